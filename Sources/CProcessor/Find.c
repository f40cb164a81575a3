#include "CProcessor.h"

#ifdef __SSE2__
#include <emmintrin.h>
#endif

/* True if the pattern stands at `at`. */
static int fits(const uint8_t *at, const struct cprocessor_pattern *pattern) {
    for (size_t index = 0; index < pattern->count; index++)
        if ((at[index] | pattern->masks[index]) != pattern->bytes[index]) return 0;
    return 1;
}

#ifdef __SSE2__

/* Both anchors at 16 places: all bits of a byte where both fit. */
static inline __m128i both(const uint8_t *at, const size_t anchors[2], const __m128i masks[2],
                           const __m128i bytes[2]) {
    __m128i first = _mm_loadu_si128((const __m128i *)(at + anchors[0]));
    __m128i second = _mm_loadu_si128((const __m128i *)(at + anchors[1]));
    return _mm_and_si128(_mm_cmpeq_epi8(_mm_or_si128(first, masks[0]), bytes[0]),
                         _mm_cmpeq_epi8(_mm_or_si128(second, masks[1]), bytes[1]));
}

/* The first of 16 places that fits; -1 if none does. */
static inline ptrdiff_t among(__m128i marks, const uint8_t *haystack, size_t at,
                              const struct cprocessor_pattern *pattern) {
    for (unsigned bits = (unsigned)_mm_movemask_epi8(marks); bits != 0; bits &= bits - 1) {
        size_t place = at + (size_t)__builtin_ctz(bits);
        if (fits(haystack + place, pattern)) return (ptrdiff_t)place;
    }
    return -1;
}

#endif

ptrdiff_t cprocessor_find(const uint8_t *haystack, size_t count, size_t start,
                          const struct cprocessor_pattern *pattern) {
    if (pattern->count == 0 || count < pattern->count) return -1;
    /* Places from `start` to here are looked at. */
    size_t end = count - pattern->count + 1;
    size_t at = start;
#ifdef __SSE2__
    __m128i masks[2], bytes[2];
    for (int index = 0; index < 2; index++) {
        masks[index] = _mm_set1_epi8((char)pattern->masks[pattern->anchors[index]]);
        bytes[index] = _mm_set1_epi8((char)pattern->bytes[pattern->anchors[index]]);
    }
    /* A place below `end` has all of the pattern before it in the haystack, so that the anchors of
     * all places of a block can be read. */
    for (; end >= 64 && at <= end - 64; at += 64) {
        __m128i marks[4];
        for (int index = 0; index < 4; index++)
            marks[index] = both(haystack + at + 16 * index, pattern->anchors, masks, bytes);
        __m128i any = _mm_or_si128(_mm_or_si128(marks[0], marks[1]),
                                   _mm_or_si128(marks[2], marks[3]));
        if (_mm_movemask_epi8(any) == 0) continue;
        for (int index = 0; index < 4; index++) {
            ptrdiff_t found = among(marks[index], haystack, at + 16 * (size_t)index, pattern);
            if (found >= 0) return found;
        }
    }
    for (; end >= 16 && at <= end - 16; at += 16) {
        ptrdiff_t found = among(both(haystack + at, pattern->anchors, masks, bytes), haystack, at,
                                pattern);
        if (found >= 0) return found;
    }
#endif
    for (; at < end; at++)
        if (fits(haystack + at, pattern)) return (ptrdiff_t)at;
    return -1;
}
