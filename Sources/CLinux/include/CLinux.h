/* What Swift's Glibc module does not show of Linux, as functions of plain types.
 *
 * This header must not define _GNU_SOURCE: it would change fd_set under the Glibc module's feet.
 * Whatever needs it is wrapped in CLinux.c. Every function that can fail returns -1 and sets errno,
 * except where its comment says otherwise. */
#ifndef CLINUX_H
#define CLINUX_H

#include <stddef.h>
#include <stdint.h>
#include <sys/epoll.h>
#include <sys/eventfd.h>
#include <sys/signalfd.h>
#include <sys/timerfd.h>
#include <sys/types.h>

/* --- sockets --- */

/* The kernel's word on who is at the other end: pid, uid, gid as of connect. */
struct clinux_credentials {
    int32_t pid;
    uint32_t uid;
    uint32_t gid;
};

int clinux_accept(int listener);
int clinux_peer_credentials(int fd, struct clinux_credentials *out);

/* The supplementary groups of the other end, as of its connect; `count` of them have room. Returns
 * how many there are, which may be more. */
int clinux_peer_groups(int fd, uint32_t *groups, int count);
/* 1 if `fd` is a listening Unix socket that keeps packet bounds, 0 if it is something else. */
int clinux_is_packet_listener(int fd);

/* Sends one packet, with up to 8 descriptors beside it. Never raises SIGPIPE. */
ssize_t clinux_send(int fd, const void *bytes, size_t count, const int *fds, int fd_count,
                    int wait);

/* Receives one packet. *fd_count holds the room in fds and, after, how many came (close-on-exec).
 * *truncated is 1 if the packet was longer than `capacity` or descriptors were cut off. */
ssize_t clinux_receive(int fd, void *bytes, size_t capacity, int *fds, int *fd_count,
                       int *truncated, int wait);

/* Receives up to `count` packets (16 at the most) that are there already, each into its own
 * `stride` bytes. lengths[i] is -1 for a packet that was longer. Descriptors that come along are
 * closed by the kernel. */
int clinux_receive_many(int fd, void *bytes, size_t stride, int count, int32_t *lengths);

/* --- memory files --- */

int clinux_memfd(const char *name);
/* Bars growing, shrinking and every later writable mapping or write(2); needs Linux 5.1. */
int clinux_seal_future_write(int fd);

/* --- processes and threads --- */

int clinux_thread_name(const char *name);
/* Lets this thread alone wait for others that want the processor; 0 to 19. */
int clinux_thread_nice(int value);
int32_t clinux_thread_id(void);
/* How much later than asked for this thread's waits may end. */
int clinux_thread_timer_slack(uint64_t ns);
/* Blocks the signals in `numbers` for this thread (and those it starts) and opens a signalfd. */
int clinux_signalfd(const int *numbers, int count);
/* Blocks SIGPIPE for this thread: a write to a closed pipe fails with EPIPE instead. */
int clinux_block_broken_pipes(void);
/* Starts `path` with descriptors 0, 1 and 2 replaced (-1 keeps); returns the pid. */
int32_t clinux_spawn(const char *path, char *const *argv, char *const *envp, const int *standard,
                     const char *directory);

/* Blocks every signal for this thread but those that its own faults raise. */
int clinux_block_signals(void);

/* --- fork --- */

extern uint32_t clinux_forks;
/* How many forks lie between this process and the one that counted first. */
static inline const uint32_t *clinux_fork_counter(void) { return &clinux_forks; }
/* Counts forks from now on. */
int clinux_count_forks(void);
/* From now on a forked child loses `fd`: it finds /dev/null there. -1 if too many are listed. */
int clinux_lose_in_child(int fd);
/* Takes `fd` off that list, before it is closed. */
void clinux_keep_in_child(int fd);

/* --- files --- */

/* A pipe whose ends no process started meanwhile can inherit. */
int clinux_pipe(int *ends);
/* flock(LOCK_EX | LOCK_NB). */
int clinux_lock(int fd);


/* --- words shared between processes --- */


/* EPOLL* and friends import unevenly into Swift; one spelling here. */
enum {
    CLINUX_EPOLLIN = 1,
    CLINUX_EPOLLOUT = 4,
    CLINUX_EPOLLERR = 8,
    CLINUX_EPOLLHUP = 16,
    CLINUX_EPOLLRDHUP = 0x2000,
};

int clinux_epoll_create(void);
int clinux_epoll_set(int epoll, int fd, uint32_t events, uint64_t tag, int add);
int clinux_epoll_remove(int epoll, int fd);
/* Up to `capacity` ready descriptors as (tag, events); timeout in ms, -1: for ever. EINTR: 0. */
int clinux_epoll_wait(int epoll, uint64_t *tags, uint32_t *events, int capacity, int64_t ns);

int clinux_eventfd(void);
int clinux_timerfd(void);
/* Arms a CLOCK_BOOTTIME timer `ns` from now, then every `interval_ns` (0: once). ns 0 disarms. */
int clinux_timer_arm(int fd, uint64_t ns, uint64_t interval_ns);

#endif
