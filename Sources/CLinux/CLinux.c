#define _GNU_SOURCE
#include "CLinux.h"

#include <errno.h>
#include <fcntl.h>
#include <linux/memfd.h>
#include <poll.h>
#include <pthread.h>
#include <signal.h>
#include <spawn.h>
#include <stdio.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/file.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

_Static_assert(CLINUX_EPOLLIN == EPOLLIN && CLINUX_EPOLLOUT == EPOLLOUT, "epoll constants");
_Static_assert(CLINUX_EPOLLERR == EPOLLERR && CLINUX_EPOLLHUP == EPOLLHUP, "epoll constants");
_Static_assert(CLINUX_EPOLLRDHUP == EPOLLRDHUP, "epoll constants");

#ifndef F_SEAL_FUTURE_WRITE
#define F_SEAL_FUTURE_WRITE 0x0010
#endif

enum { FDS_MAX = 8 };

int clinux_accept(int listener) {
    int fd;
    do fd = accept4(listener, NULL, NULL, SOCK_CLOEXEC | SOCK_NONBLOCK);
    while (fd < 0 && errno == EINTR);
    return fd;
}

int clinux_peer_credentials(int fd, struct clinux_credentials *out) {
    struct ucred peer;
    socklen_t size = sizeof peer;
    if (getsockopt(fd, SOL_SOCKET, SO_PEERCRED, &peer, &size) < 0) return -1;
    out->pid = peer.pid;
    out->uid = peer.uid;
    out->gid = peer.gid;
    return 0;
}

int clinux_peer_groups(int fd, uint32_t *groups, int count) {
    _Static_assert(sizeof(gid_t) == sizeof(uint32_t), "a group is 32 bits");
    socklen_t size = (socklen_t)count * sizeof(gid_t);
    if (getsockopt(fd, SOL_SOCKET, SO_PEERGROUPS, groups, &size) < 0 && errno != ERANGE) return -1;
    return (int)(size / sizeof(gid_t));
}

static int socket_option(int fd, int name) {
    int value = -1;
    socklen_t size = sizeof value;
    return getsockopt(fd, SOL_SOCKET, name, &value, &size) < 0 ? -1 : value;
}

int clinux_is_packet_listener(int fd) {
    return socket_option(fd, SO_DOMAIN) == AF_UNIX && socket_option(fd, SO_TYPE) == SOCK_SEQPACKET
           && socket_option(fd, SO_ACCEPTCONN) == 1;
}

ssize_t clinux_send(int fd, const void *bytes, size_t count, const int *fds, int fd_count,
                    int wait) {
    int flags = MSG_NOSIGNAL | (wait ? 0 : MSG_DONTWAIT);
    ssize_t sent;
    if (fd_count == 0) {
        do sent = send(fd, bytes, count, flags);
        while (sent < 0 && errno == EINTR);
        return sent;
    }
    if (fd_count < 0 || fd_count > FDS_MAX) return errno = EINVAL, -1;
    union {
        struct cmsghdr align;
        char bytes[CMSG_SPACE(sizeof(int) * FDS_MAX)];
    } control;
    memset(&control, 0, sizeof control);
    struct iovec part = {.iov_base = (void *)bytes, .iov_len = count};
    struct msghdr message = {
        .msg_iov = &part,
        .msg_iovlen = 1,
        .msg_control = &control,
        .msg_controllen = CMSG_SPACE(sizeof(int) * fd_count),
    };
    struct cmsghdr *header = CMSG_FIRSTHDR(&message);
    header->cmsg_level = SOL_SOCKET;
    header->cmsg_type = SCM_RIGHTS;
    header->cmsg_len = CMSG_LEN(sizeof(int) * fd_count);
    memcpy(CMSG_DATA(header), fds, sizeof(int) * fd_count);
    do sent = sendmsg(fd, &message, flags);
    while (sent < 0 && errno == EINTR);
    return sent;
}

/* Copies the descriptors of one control message out; those beyond `room` are closed, not leaked. */
static int take_descriptors(struct cmsghdr *header, int *fds, int taken, int room, int *truncated) {
    int came = (header->cmsg_len - CMSG_LEN(0)) / sizeof(int);
    for (int i = 0; i < came; i++) {
        int fd;
        memcpy(&fd, CMSG_DATA(header) + i * sizeof(int), sizeof fd);
        if (taken < room) fds[taken++] = fd;
        else close(fd), *truncated = 1;
    }
    return taken;
}

ssize_t clinux_receive(int fd, void *bytes, size_t capacity, int *fds, int *fd_count,
                       int *truncated, int wait) {
    union {
        struct cmsghdr align;
        char bytes[CMSG_SPACE(sizeof(int) * FDS_MAX)];
    } control;
    struct iovec part = {.iov_base = bytes, .iov_len = capacity};
    struct msghdr message = {
        .msg_iov = &part,
        .msg_iovlen = 1,
        .msg_control = &control,
        .msg_controllen = sizeof control,
    };
    ssize_t received;
    do received = recvmsg(fd, &message, MSG_CMSG_CLOEXEC | (wait ? 0 : MSG_DONTWAIT));
    while (received < 0 && errno == EINTR);
    int room = *fd_count;
    *fd_count = 0;
    *truncated = 0;
    if (received < 0) return received;
    if (message.msg_flags & (MSG_TRUNC | MSG_CTRUNC)) *truncated = 1;
    for (struct cmsghdr *h = CMSG_FIRSTHDR(&message); h != NULL; h = CMSG_NXTHDR(&message, h))
        if (h->cmsg_level == SOL_SOCKET && h->cmsg_type == SCM_RIGHTS)
            *fd_count = take_descriptors(h, fds, *fd_count, room, truncated);
    return received;
}

int clinux_receive_many(int fd, void *bytes, size_t stride, int count, int32_t *lengths) {
    enum { MANY = 16 };
    struct mmsghdr messages[MANY];
    struct iovec parts[MANY];
    if (count > MANY) count = MANY;
    memset(messages, 0, sizeof messages[0] * count);
    for (int i = 0; i < count; i++) {
        parts[i].iov_base = (char *)bytes + stride * i;
        parts[i].iov_len = stride;
        messages[i].msg_hdr.msg_iov = &parts[i];
        messages[i].msg_hdr.msg_iovlen = 1;
    }
    int came;
    do came = recvmmsg(fd, messages, count, MSG_DONTWAIT, NULL);
    while (came < 0 && errno == EINTR);
    for (int i = 0; i < came; i++)
        lengths[i] = messages[i].msg_hdr.msg_flags & MSG_TRUNC ? -1 : (int32_t)messages[i].msg_len;
    return came;
}

int clinux_memfd(const char *name) { return memfd_create(name, MFD_CLOEXEC | MFD_ALLOW_SEALING); }

int clinux_seal_future_write(int fd) {
    return fcntl(fd, F_ADD_SEALS, F_SEAL_FUTURE_WRITE | F_SEAL_SHRINK | F_SEAL_GROW | F_SEAL_SEAL);
}

int clinux_thread_name(const char *name) { return pthread_setname_np(pthread_self(), name); }

int clinux_thread_timer_slack(uint64_t ns) { return prctl(PR_SET_TIMERSLACK, ns, 0, 0, 0); }

int clinux_thread_nice(int value) {
    return setpriority(PRIO_PROCESS, (id_t)syscall(SYS_gettid), value);
}

int32_t clinux_thread_id(void) { return (int32_t)syscall(SYS_gettid); }

int clinux_signalfd(const int *numbers, int count) {
    sigset_t set;
    sigemptyset(&set);
    for (int i = 0; i < count; i++) sigaddset(&set, numbers[i]);
    if (pthread_sigmask(SIG_BLOCK, &set, NULL) != 0) return -1;
    return signalfd(-1, &set, SFD_CLOEXEC | SFD_NONBLOCK);
}

int clinux_block_broken_pipes(void) {
    sigset_t set;
    sigemptyset(&set);
    sigaddset(&set, SIGPIPE);
    return pthread_sigmask(SIG_BLOCK, &set, NULL);
}

int clinux_block_signals(void) {
    sigset_t set;
    sigfillset(&set);
    static const int faults[] = {SIGSEGV, SIGBUS, SIGFPE, SIGILL, SIGTRAP};
    for (int i = 0; i < 5; i++) sigdelset(&set, faults[i]);
    return pthread_sigmask(SIG_BLOCK, &set, NULL);
}

uint32_t clinux_forks;

/* Descriptors that a child loses, each plus one; 0 is a free place. */
enum { LOST_MAX = 256 };
static int lost[LOST_MAX];

/* Runs in the child of a process that may have had threads: only plain system calls here. The
 * number stays taken, so that nobody closes a stranger's file under it. */
static void in_child(void) {
    clinux_forks++;
    int null = -1;
    for (int i = 0; i < LOST_MAX; i++) {
        if (lost[i] == 0) continue;
        if (null < 0) null = open("/dev/null", O_RDWR | O_CLOEXEC);
        if (null >= 0) dup3(null, lost[i] - 1, O_CLOEXEC);
        lost[i] = 0;
    }
    if (null >= 0) close(null);
}

static void install_in_child(void) { pthread_atfork(NULL, NULL, in_child); }

int clinux_count_forks(void) {
    static pthread_once_t once = PTHREAD_ONCE_INIT;
    return pthread_once(&once, install_in_child);
}

int clinux_lose_in_child(int fd) {
    for (int i = 0; i < LOST_MAX; i++) {
        int free = 0;
        if (__atomic_compare_exchange_n(&lost[i], &free, fd + 1, 0, __ATOMIC_SEQ_CST,
                                        __ATOMIC_SEQ_CST))
            return 0;
    }
    return -1;
}

void clinux_keep_in_child(int fd) {
    for (int i = 0; i < LOST_MAX; i++) {
        int held = fd + 1;
        if (__atomic_compare_exchange_n(&lost[i], &held, 0, 0, __ATOMIC_SEQ_CST, __ATOMIC_SEQ_CST))
            return;
    }
}

int32_t clinux_spawn(const char *path, char *const *argv, char *const *envp, const int *standard,
                     const char *directory) {
    posix_spawn_file_actions_t actions;
    posix_spawnattr_t attributes;
    sigset_t none;
    pid_t pid;
    posix_spawn_file_actions_init(&actions);
    posix_spawnattr_init(&attributes);
    for (int i = 0; i < 3; i++)
        if (standard[i] >= 0) posix_spawn_file_actions_adddup2(&actions, standard[i], i);
    if (directory != NULL) posix_spawn_file_actions_addchdir_np(&actions, directory);
    sigemptyset(&none);
    posix_spawnattr_setsigmask(&attributes, &none);
    posix_spawnattr_setflags(&attributes, POSIX_SPAWN_SETSIGMASK);
    int failed = posix_spawn(&pid, path, &actions, &attributes, argv, envp);
    posix_spawn_file_actions_destroy(&actions);
    posix_spawnattr_destroy(&attributes);
    if (failed != 0) return errno = failed, -1;
    return pid;
}

int clinux_pipe(int *ends) { return pipe2(ends, O_CLOEXEC); }

int clinux_lock(int fd) { return flock(fd, LOCK_EX | LOCK_NB); }

int clinux_epoll_create(void) { return epoll_create1(EPOLL_CLOEXEC); }

int clinux_epoll_set(int epoll, int fd, uint32_t events, uint64_t tag, int add) {
    struct epoll_event event = {.events = events, .data.u64 = tag};
    return epoll_ctl(epoll, add ? EPOLL_CTL_ADD : EPOLL_CTL_MOD, fd, &event);
}

int clinux_epoll_remove(int epoll, int fd) { return epoll_ctl(epoll, EPOLL_CTL_DEL, fd, NULL); }

int clinux_epoll_wait(int epoll, uint64_t *tags, uint32_t *events, int capacity, int64_t ns) {
    struct epoll_event ready[64];
    struct timespec timeout = {.tv_sec = ns / 1000000000, .tv_nsec = ns % 1000000000};
    if (capacity > 64) capacity = 64;
    int count = epoll_pwait2(epoll, ready, capacity, ns < 0 ? NULL : &timeout, NULL);
    if (count < 0) return errno == EINTR ? 0 : -1;
    for (int i = 0; i < count; i++) tags[i] = ready[i].data.u64, events[i] = ready[i].events;
    return count;
}

int clinux_eventfd(void) { return eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK); }

int clinux_timerfd(void) { return timerfd_create(CLOCK_BOOTTIME, TFD_CLOEXEC | TFD_NONBLOCK); }

int clinux_timer_arm(int fd, uint64_t ns, uint64_t interval_ns) {
    struct itimerspec spec = {
        .it_value = {.tv_sec = ns / 1000000000u, .tv_nsec = ns % 1000000000u},
        .it_interval = {.tv_sec = interval_ns / 1000000000u, .tv_nsec = interval_ns % 1000000000u},
    };
    return timerfd_settime(fd, 0, &spec, NULL);
}
