/* What processors do faster than Swift can say: functions on plain bytes, without system calls. */
#ifndef CPROCESSOR_H
#define CPROCESSOR_H

#include <stddef.h>
#include <stdint.h>

/* A text to look for. A byte of the haystack fits where the byte, with the bits of `masks` set, is
 * that of `bytes`: 0x20 is the mask of a letter that fits in either case, 0 that of all else.
 * `anchors` are two places in it whose bytes are rare. 0 < count. */
struct cprocessor_pattern {
    const uint8_t *bytes;
    const uint8_t *masks;
    size_t count;
    size_t anchors[2];
};

/* The first place from `start` on where the pattern stands in the `count` bytes of `haystack`;
 * -1 if there is none. */
ptrdiff_t cprocessor_find(const uint8_t *haystack, size_t count, size_t start,
                          const struct cprocessor_pattern *pattern);

/* 1 if the processor has an instruction for CRC-32C. */
int cprocessor_has_crc32c(void);
/* CRC-32C of `count` bytes, going on from `previous`; only where there is the instruction. */
uint32_t cprocessor_crc32c(uint32_t previous, const uint8_t *bytes, size_t count);

#endif
