#include "CProcessor.h"

#include <string.h>

#ifdef __x86_64__

#include <nmmintrin.h>

int cprocessor_has_crc32c(void) {
    return __builtin_cpu_supports("sse4.2") != 0;
}

/* Eight bytes take the instruction three cycles, one after another. */
__attribute__((target("sse4.2"))) uint32_t cprocessor_crc32c(uint32_t previous,
                                                             const uint8_t *bytes, size_t count) {
    uint64_t crc = ~previous;
    for (; count >= 8; count -= 8, bytes += 8) {
        uint64_t word;
        memcpy(&word, bytes, sizeof word);
        crc = _mm_crc32_u64(crc, word);
    }
    for (; count > 0; count--, bytes++) crc = _mm_crc32_u8((uint32_t)crc, *bytes);
    return ~(uint32_t)crc;
}

#else

int cprocessor_has_crc32c(void) {
    return 0;
}

uint32_t cprocessor_crc32c(uint32_t previous, const uint8_t *bytes, size_t count) {
    (void)bytes;
    (void)count;
    return previous;
}

#endif
