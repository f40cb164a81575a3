/* The yardstick for the bus: what the kernel itself costs.
 *
 *     relay [ROUNDS]
 *
 * measures the round trip of 16 bytes, in nanoseconds, over
 *   raw-socket-pair  one SOCK_SEQPACKET pair between two processes, one of which echoes
 *   c-relay          two such pairs with a minimal epoll relay process between the two
 *   c-relay-32k      the same, with 32 KiB on the way there and 16 bytes back
 * and prints `name median_ns p99_ns`, a line each. No broker that sends bytes can be faster. */
#define _GNU_SOURCE
#include <errno.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <time.h>
#include <signal.h>
#include <unistd.h>

enum { SIZE = 16, SIZE_LARGE = 32768 };
enum { WARM_UP = 1000, ROUNDS_DEFAULT = 20000, ROUNDS_MAX = 10000000 };

static void die(const char *what) {
    fprintf(stderr, "relay: %s: %s\n", what, strerror(errno));
    exit(2);
}

static void make_pair(int ends[2]) {
    if (socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, ends) != 0) die("socketpair");
}

static uint64_t now_ns(void) {
    struct timespec time;
    clock_gettime(CLOCK_MONOTONIC, &time);
    return (uint64_t)time.tv_sec * 1000000000u + (uint64_t)time.tv_nsec;
}

/* Starts `job` in a process of its own, which ends with this one at the latest. */
static pid_t start(void (*job)(int, int), int left, int right) {
    pid_t child = fork();
    if (child < 0) die("fork");
    if (child > 0) return child;
    prctl(PR_SET_PDEATHSIG, SIGKILL);
    job(left, right);
    _exit(0);
}

static void stop(pid_t child) {
    kill(child, SIGKILL);
    waitpid(child, NULL, 0);
}

static void echo(int end, int unused) {
    static char packet[SIZE_LARGE];
    (void)unused;
    for (;;) {
        if (recv(end, packet, sizeof packet, 0) <= 0) return;
        if (send(end, packet, SIZE, MSG_NOSIGNAL) != SIZE) return;
    }
}

static void relay(int left, int right) {
    int ends[2] = {left, right};
    int poller = epoll_create1(EPOLL_CLOEXEC);
    if (poller < 0) die("epoll_create1");
    for (uint32_t index = 0; index < 2; index++) {
        struct epoll_event watch = {.events = EPOLLIN, .data.u32 = index};
        if (epoll_ctl(poller, EPOLL_CTL_ADD, ends[index], &watch) != 0) die("epoll_ctl");
    }
    for (;;) {
        struct epoll_event ready[2];
        int count = epoll_wait(poller, ready, 2, -1);
        if (count < 0 && errno != EINTR) return;
        for (int index = 0; index < count; index++) {
            static char packet[SIZE_LARGE];
            uint32_t from = ready[index].data.u32;
            ssize_t size = recv(ends[from], packet, sizeof packet, 0);
            if (size <= 0) return;
            if (send(ends[1 - from], packet, (size_t)size, MSG_NOSIGNAL) != size) return;
        }
    }
}

static int compare(const void *left, const void *right) {
    uint64_t a = *(const uint64_t *)left, b = *(const uint64_t *)right;
    return (a > b) - (a < b);
}

static void measure(const char *name, int end, int size, int rounds) {
    uint64_t *times = calloc((size_t)rounds, sizeof *times);
    static char packet[SIZE_LARGE];
    if (times == NULL) die("calloc");
    for (int round = -WARM_UP; round < rounds; round++) {
        uint64_t started = now_ns();
        if (send(end, packet, (size_t)size, MSG_NOSIGNAL) != size) die("send");
        if (recv(end, packet, SIZE, 0) != SIZE) die("recv");
        if (round >= 0) times[round] = now_ns() - started;
    }
    qsort(times, (size_t)rounds, sizeof *times, compare);
    printf("%s %llu %llu\n", name, (unsigned long long)times[rounds / 2],
           (unsigned long long)times[(int)((int64_t)rounds * 99 / 100)]);
    fflush(stdout);
    free(times);
}

static int parse_rounds(int count, char **arguments) {
    if (count < 2) return ROUNDS_DEFAULT;
    char *end = arguments[1];
    long rounds = strtol(arguments[1], &end, 10);
    if (count > 2 || *end != 0 || rounds < 1 || rounds > ROUNDS_MAX) {
        fprintf(stderr, "usage: relay [ROUNDS], 1 to %d\n", ROUNDS_MAX);
        exit(2);
    }
    return (int)rounds;
}

int main(int count, char **arguments) {
    int rounds = parse_rounds(count, arguments);
    int near[2], far[2];

    make_pair(near);
    pid_t echoer = start(echo, near[1], -1);
    measure("raw-socket-pair", near[0], SIZE, rounds);
    stop(echoer);
    close(near[0]);
    close(near[1]);

    make_pair(near);
    make_pair(far);
    echoer = start(echo, far[1], -1);
    pid_t relayer = start(relay, near[1], far[0]);
    measure("c-relay", near[0], SIZE, rounds);
    measure("c-relay-32k", near[0], SIZE_LARGE, rounds);
    stop(relayer);
    stop(echoer);
    return 0;
}
