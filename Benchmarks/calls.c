/* What reading costs a C program:
 *
 *     calls [ROUNDS]
 *
 * prints `name ns` for one notify_get_state and one notify_check of libintel-notify.so, a line
 * each.
 * The bus is that of INTEL_BUS. */
#define _GNU_SOURCE
#include <notify.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>

enum { ROUNDS_DEFAULT = 20000000, ROUNDS_MAX = 1000000000 };

static double now_ns(void) {
    struct timespec time;
    clock_gettime(CLOCK_MONOTONIC, &time);
    return (double)time.tv_sec * 1e9 + (double)time.tv_nsec;
}

static void must(uint32_t status, const char *what) {
    if (status == NOTIFY_STATUS_OK) return;
    fprintf(stderr, "calls: %s: status %u\n", what, status);
    exit(2);
}

int main(int count, char **arguments) {
    char *end = "";
    long rounds = count > 1 ? strtol(arguments[1], &end, 10) : ROUNDS_DEFAULT;
    if (count > 2 || *end != 0 || rounds < 1 || rounds > ROUNDS_MAX) {
        fprintf(stderr, "usage: calls [ROUNDS], 1 to %d\n", ROUNDS_MAX);
        return 2;
    }
    int token, changed;
    uint64_t state = 0;
    must(notify_register_check("bench.calls", &token), "register");
    must(notify_set_state(token, 1), "set state");

    uint64_t sum = 0;
    double started = now_ns();
    for (long round = 0; round < rounds; round++) {
        must(notify_get_state(token, &state), "get state");
        sum += state;
    }
    double between = now_ns();
    for (long round = 0; round < rounds; round++) {
        must(notify_check(token, &changed), "check");
        sum += (uint64_t)changed;
    }
    double ended = now_ns();
    if (sum != (uint64_t)rounds + 1) {
        fprintf(stderr, "calls: read something else than was set\n");
        return 2;
    }
    printf("get_state-from-C %.2f\n", (between - started) / (double)rounds);
    printf("check-from-C %.2f\n", (ended - between) / (double)rounds);
    return 0;
}
