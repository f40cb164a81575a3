/* What the parts of the conformance program share. */
#ifndef CONFORMANCE_H
#define CONFORMANCE_H

#include <arpa/inet.h>
#include <notify.h>
#include <poll.h>
#include <stdint.h>
#include <stdio.h>
#include <time.h>
#include <unistd.h>

#define EXPECT(condition)                                                                        \
    do {                                                                                         \
        if (!(condition)) {                                                                      \
            fprintf(stderr, "conformance.c:%d: %s\n", __LINE__, #condition);                     \
            _exit(1);                                                                            \
        }                                                                                        \
    } while (0)

enum { WAIT_MS = 20000, SILENCE_MS = 300 };

static inline int registered(const char *name) {
    int token = 77;
    EXPECT(notify_register_check(name, &token) == 0 && token >= 0);
    return token;
}

static inline int checked(int token) {
    int check = 77;
    EXPECT(notify_check(token, &check) == 0);
    return check;
}

static inline uint64_t state_of(int token) {
    uint64_t state = 77;
    EXPECT(notify_get_state(token, &state) == 0);
    return state;
}

/* True if fd can be read within `ms`. */
static inline int readable(int fd, int ms) {
    struct pollfd entry = {.fd = fd, .events = POLLIN};
    return poll(&entry, 1, ms) == 1 && (entry.revents & POLLIN);
}

static inline int next_token(int fd) {
    uint32_t token;
    EXPECT(readable(fd, WAIT_MS));
    EXPECT(read(fd, &token, 4) == 4);
    return (int)ntohl(token);
}

static inline double nanoseconds(const struct timespec *from, const struct timespec *to,
                                 int rounds) {
    return ((to->tv_sec - from->tv_sec) * 1e9 + (to->tv_nsec - from->tv_nsec)) / rounds;
}

/* What a handler has seen, through a pipe: it runs on a thread of the library. */
extern int seen[2];
/* Tells its token and the number that `context` leads to. */
void tell_token(int token, void *context);

/* In process.c. */
void fork_in_use(void);
void exec_in_use(void);
void after_exec(void);
void without_broker(void);
void hold(void);
void listen_for_ever(void);

#endif
