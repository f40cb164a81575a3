/* The yardstick for searching the cold tier: what reading and unpacking alone cost.
 *
 *     scan WORD FOLDER
 *
 * reads the blobs of all segments of the spool in FOLDER, unpacks their payload frames and looks
 * for WORD in what comes out with memmem, as it lies there: it rebuilds and checks nothing, and
 * its answer is only right for words that no column cuts. Prints `N blobs, M found, T ms`, the best
 * of several rounds on one thread. The layout is that of docs/spool-format.md. */
#define _GNU_SOURCE
#include <glob.h>
#include <sqlite3.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <zstd.h>

enum { ROUNDS = 7, FIXED = 18, ROOM = 64 << 20 };

static void die(const char *what, const char *why) {
    fprintf(stderr, "scan: %s: %s\n", what, why);
    exit(2);
}

static double now_ms(void) {
    struct timespec time;
    clock_gettime(CLOCK_MONOTONIC, &time);
    return (double)time.tv_sec * 1e3 + (double)time.tv_nsec / 1e6;
}

static uint64_t varint(const uint8_t **at, const uint8_t *end) {
    uint64_t value = 0;
    for (int shift = 0; *at < end && shift < 64; shift += 7) {
        uint8_t byte = *(*at)++;
        value |= (uint64_t)(byte & 0x7f) << shift;
        if (byte < 0x80) return value;
    }
    die("blob", "cut short");
    return 0;
}

/* The payload frame of a blob: after magic, two bytes, two varints, two checksums, and frame 1. */
static const uint8_t *frame(const uint8_t *blob, const uint8_t *end) {
    if (end - blob < FIXED || memcmp(blob, "iSC1", 4) != 0) die("blob", "not one of ours");
    const uint8_t *at = blob + 6;
    varint(&at, end);
    varint(&at, end);
    at += 12;
    uint64_t first = varint(&at, end);
    if (at > end || first > (uint64_t)(end - at)) die("blob", "cut short");
    if (ZSTD_isError(ZSTD_findFrameCompressedSize(at + first, (size_t)(end - at - first))))
        die("blob", "no frame where one must be");
    return at + first;
}

static void scan(const char *path, const char *word, char *room, ZSTD_DCtx *context, long *blobs,
                 long *found) {
    sqlite3 *file;
    sqlite3_stmt *list;
    if (sqlite3_open_v2(path, &file, SQLITE_OPEN_READONLY, NULL) != SQLITE_OK) die(path, "open");
    sqlite3_exec(file, "PRAGMA mmap_size=1073741824", NULL, NULL, NULL);
    if (sqlite3_prepare_v2(file, "SELECT data FROM batch", -1, &list, NULL) != SQLITE_OK)
        die(path, sqlite3_errmsg(file));
    while (sqlite3_step(list) == SQLITE_ROW) {
        const uint8_t *blob = sqlite3_column_blob(list, 0);
        const uint8_t *end = blob + sqlite3_column_bytes(list, 0);
        const uint8_t *packed = frame(blob, end);
        size_t size = ZSTD_decompressDCtx(context, room, ROOM, packed, (size_t)(end - packed));
        if (ZSTD_isError(size)) die(path, ZSTD_getErrorName(size));
        const char *at = room;
        size_t length = strlen(word);
        while ((at = memmem(at, (size_t)(room + size - at), word, length)) != NULL) {
            at += length;
            ++*found;
        }
        ++*blobs;
    }
    sqlite3_finalize(list);
    sqlite3_close(file);
}

int main(int count, char **arguments) {
    if (count != 3 || arguments[1][0] == 0) {
        fprintf(stderr, "usage: scan WORD FOLDER\n");
        return 2;
    }
    char pattern[4096];
    snprintf(pattern, sizeof pattern, "%s/seg/*.db", arguments[2]);
    char *room = malloc(ROOM);
    ZSTD_DCtx *context = ZSTD_createDCtx();
    if (room == NULL || context == NULL) die("memory", "none left");
    double best = 1e300;
    long blobs = 0, found = 0;
    for (int round = 0; round < ROUNDS; round++) {
        glob_t files;
        blobs = found = 0;
        double started = now_ms();
        if (glob(pattern, 0, NULL, &files) != 0) die(pattern, "no segment");
        for (size_t index = 0; index < files.gl_pathc; index++)
            scan(files.gl_pathv[index], arguments[1], room, context, &blobs, &found);
        globfree(&files);
        double took = now_ms() - started;
        if (took < best) best = took;
    }
    printf("%ld blobs, %ld found, %.2f ms\n", blobs, found, best);
    return 0;
}
