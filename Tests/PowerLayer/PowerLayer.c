#define _GNU_SOURCE
#include "PowerLayer.h"

#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <signal.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/types.h>
#include <sys/uio.h>
#include <unistd.h>

/* Every call below goes to the kernel by syscall(2), so that no wrapper meets another. */

enum { DESCRIPTORS_MAX = 4096 };

static const char *root;
static size_t root_length;
static int trace = -1;
static unsigned long kill_at;
static int tears;
static unsigned long calls;
/* The file behind a descriptor; 0 where it is none of ours. */
static uint64_t nodes[DESCRIPTORS_MAX];
/* One call after another, so that the order in the trace is the order on the disk. */
static pthread_mutex_t turn = PTHREAD_MUTEX_INITIALIZER;

__attribute__((constructor)) static void begin(void) {
    const char *path = getenv("POWER_TRACE");
    const char *number = getenv("POWER_KILL");
    root = getenv("POWER_ROOT");
    if (!root) return;
    root_length = strlen(root);
    tears = getenv("POWER_TORN") != NULL;
    if (number) kill_at = strtoul(number, NULL, 10);
    if (path) {
        int flags = O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC;
        trace = (int)syscall(SYS_openat, AT_FDCWD, path, flags, 0600);
    }
}

static int is_ours(const char *path) {
    if (!root || strncmp(path, root, root_length)) return 0;
    if (path[root_length] && path[root_length] != '/') return 0;
    size_t length = strlen(path);
    return length < 4 || strcmp(path + length - 4, "-shm");
}

static uint64_t node_of(int fd) {
    return root && fd >= 0 && fd < DESCRIPTORS_MAX ? nodes[fd] : 0;
}

static void die(void) {
    syscall(SYS_kill, getpid(), SIGKILL);
    for (;;) pause();
}

/* True if this is the call before which the program is to end. */
static int is_last(void) {
    calls++;
    return calls == kill_at;
}

static void await_end(void) {
    if (is_last()) die();
}

static void tell(uint64_t kind, uint64_t node, uint64_t offset, const char *path, const char *other,
                 const void *data, size_t data_length) {
    if (trace < 0) return;
    int saved = errno;
    struct power_call call = {kind, node, offset, path ? strlen(path) : 0,
                              other ? strlen(other) : 0, data_length};
    struct iovec parts[] = {{&call, sizeof call},
                            {(void *)path, call.path_length},
                            {(void *)other, call.other_length},
                            {(void *)data, data_length}};
    size_t length = sizeof call + call.path_length + call.other_length + data_length;
    if (syscall(SYS_writev, trace, parts, 4) != (long)length) abort();
    errno = saved;
}

/* --- files --- */

static int open_ours(const char *path, int flags, mode_t mode) {
    struct stat before, after;
    int is_there = fstatat(AT_FDCWD, path, &before, 0) == 0;
    int is_made = flags & O_CREAT && !is_there;
    int is_cut = flags & O_TRUNC && is_there && before.st_size > 0;
    if (is_made || is_cut) await_end();
    errno = 0;
    int fd = (int)syscall(SYS_openat, AT_FDCWD, path, flags, mode);
    if (fd < 0 || fd >= DESCRIPTORS_MAX || fstat(fd, &after) < 0) return fd;
    nodes[fd] = after.st_ino;
    tell(is_made ? POWER_MAKE : POWER_OPEN, after.st_ino, 0, path, NULL, NULL, 0);
    if (is_cut) tell(POWER_CUT, after.st_ino, 0, NULL, NULL, NULL, 0);
    return fd;
}

static int open_any(const char *path, int flags, mode_t mode) {
    if (is_ours(path)) {
        pthread_mutex_lock(&turn);
        int fd = open_ours(path, flags, mode);
        pthread_mutex_unlock(&turn);
        return fd;
    }
    int fd = (int)syscall(SYS_openat, AT_FDCWD, path, flags, mode);
    if (fd >= 0 && fd < DESCRIPTORS_MAX) nodes[fd] = 0;
    return fd;
}

static mode_t mode_of(int flags, va_list arguments) {
    return flags & (O_CREAT | O_TMPFILE) ? va_arg(arguments, mode_t) : 0;
}

int open(const char *path, int flags, ...) {
    va_list arguments;
    va_start(arguments, flags);
    mode_t mode = mode_of(flags, arguments);
    va_end(arguments);
    return open_any(path, flags, mode);
}

int open64(const char *path, int flags, ...) {
    va_list arguments;
    va_start(arguments, flags);
    mode_t mode = mode_of(flags, arguments);
    va_end(arguments);
    return open_any(path, flags, mode);
}

int close(int fd) {
    if (fd >= 0 && fd < DESCRIPTORS_MAX) nodes[fd] = 0;
    return (int)syscall(SYS_close, fd);
}

static ssize_t write_at(int fd, const void *data, size_t length, off_t offset) {
    return syscall(SYS_pwrite64, fd, data, length, offset);
}

static ssize_t write_ours(int fd, const void *data, size_t length, off_t offset, int is_placed) {
    pthread_mutex_lock(&turn);
    if (is_last()) {
        if (tears) write_at(fd, data, length / 2, offset);
        die();
    }
    ssize_t count = is_placed ? write_at(fd, data, length, offset)
                              : syscall(SYS_write, fd, data, length);
    if (count > 0) tell(POWER_WRITE, nodes[fd], (uint64_t)offset, NULL, NULL, data, (size_t)count);
    pthread_mutex_unlock(&turn);
    return count;
}

ssize_t write(int fd, const void *data, size_t length) {
    if (root && fd == STDOUT_FILENO) {
        pthread_mutex_lock(&turn);
        await_end();
        ssize_t count = syscall(SYS_write, fd, data, length);
        if (count > 0) tell(POWER_SAY, 0, 0, NULL, NULL, data, (size_t)count);
        pthread_mutex_unlock(&turn);
        return count;
    }
    if (!node_of(fd)) return syscall(SYS_write, fd, data, length);
    struct stat file;
    off_t offset = lseek(fd, 0, SEEK_CUR);
    if (fcntl(fd, F_GETFL) & O_APPEND && fstat(fd, &file) == 0) offset = file.st_size;
    return write_ours(fd, data, length, offset, 0);
}

ssize_t pwrite(int fd, const void *data, size_t length, off_t offset) {
    if (!node_of(fd)) return write_at(fd, data, length, offset);
    return write_ours(fd, data, length, offset, 1);
}

ssize_t pwrite64(int fd, const void *data, size_t length, off64_t offset) {
    return pwrite(fd, data, length, offset);
}

int ftruncate(int fd, off_t size) {
    if (!node_of(fd)) return (int)syscall(SYS_ftruncate, fd, size);
    pthread_mutex_lock(&turn);
    await_end();
    int code = (int)syscall(SYS_ftruncate, fd, size);
    if (code == 0) tell(POWER_CUT, nodes[fd], (uint64_t)size, NULL, NULL, NULL, 0);
    pthread_mutex_unlock(&turn);
    return code;
}

int ftruncate64(int fd, off64_t size) {
    return ftruncate(fd, size);
}

int posix_fallocate(int fd, off_t offset, off_t length) {
    uint64_t node = node_of(fd);
    pthread_mutex_lock(&turn);
    if (node) await_end();
    int code = syscall(SYS_fallocate, fd, 0, offset, length) < 0 ? errno : 0;
    if (node && code == 0) {
        tell(POWER_RESERVE, node, (uint64_t)(offset + length), NULL, NULL, NULL, 0);
    }
    pthread_mutex_unlock(&turn);
    return code;
}

int posix_fallocate64(int fd, off64_t offset, off64_t length) {
    return posix_fallocate(fd, offset, length);
}

static int sync_by(long number, int fd) {
    if (!node_of(fd)) return (int)syscall(number, fd);
    pthread_mutex_lock(&turn);
    await_end();
    int code = (int)syscall(number, fd);
    if (code == 0) tell(POWER_SYNC, nodes[fd], 0, NULL, NULL, NULL, 0);
    pthread_mutex_unlock(&turn);
    return code;
}

int fsync(int fd) {
    return sync_by(SYS_fsync, fd);
}

int fdatasync(int fd) {
    return sync_by(SYS_fdatasync, fd);
}

/* --- names --- */

static int name_by(long number, uint64_t kind, const char *path, const char *other) {
    int counts = is_ours(path) || (other && is_ours(other));
    pthread_mutex_lock(&turn);
    if (counts) await_end();
    int code = (int)syscall(number, path, other);
    if (counts && code == 0) tell(kind, 0, 0, path, other, NULL, 0);
    pthread_mutex_unlock(&turn);
    return code;
}

int rename(const char *path, const char *other) {
    return name_by(SYS_rename, POWER_RENAME, path, other);
}

int link(const char *path, const char *other) {
    return name_by(SYS_link, POWER_LINK, path, other);
}

int unlink(const char *path) {
    return name_by(SYS_unlink, POWER_UNLINK, path, NULL);
}

int rmdir(const char *path) {
    return name_by(SYS_rmdir, POWER_REMOVE_FOLDER, path, NULL);
}

int mkdir(const char *path, mode_t mode) {
    if (!is_ours(path)) return (int)syscall(SYS_mkdir, path, mode);
    pthread_mutex_lock(&turn);
    await_end();
    int code = (int)syscall(SYS_mkdir, path, mode);
    if (code == 0) tell(POWER_MAKE_FOLDER, 0, 0, path, NULL, NULL, 0);
    pthread_mutex_unlock(&turn);
    return code;
}
