/* For the tests under the thread sanitizer alone: it cannot see into Swift's library, where a Mutex
 * that somebody waits for is handed on by the kernel, and would call what the Mutex guards a race.
 * These stand in front of the library's two functions and tell it what they do. */
#define _GNU_SOURCE
#include "CLinux.h"

#if defined(__has_feature)
#if __has_feature(thread_sanitizer)

#include <dlfcn.h>
#include <stdlib.h>

void __tsan_acquire(void *address);
void __tsan_release(void *address);

#define SELF __attribute__((swift_context)) void *self
#define SWIFT __attribute__((swiftcall))
#define LOCK "$s15Synchronization12_MutexHandleV9_lockSlowyys6UInt32VF"
#define UNLOCK "$s15Synchronization12_MutexHandleV11_unlockSlowyyF"

SWIFT void clinux_mutex_lock_slow(uint32_t thread, SELF) __asm__(LOCK);
SWIFT void clinux_mutex_unlock_slow(SELF) __asm__(UNLOCK);

static void *next(const char *name) {
    void *found = dlsym(RTLD_NEXT, name);
    if (!found) abort();
    return found;
}

SWIFT void clinux_mutex_lock_slow(uint32_t thread, SELF) {
    SWIFT void (*lock)(uint32_t, SELF) = (SWIFT void (*)(uint32_t, SELF))next(LOCK);
    lock(thread, self);
    __tsan_acquire(self);
}

SWIFT void clinux_mutex_unlock_slow(SELF) {
    SWIFT void (*unlock)(SELF) = (SWIFT void (*)(SELF))next(UNLOCK);
    __tsan_release(self);
    unlock(self);
}

#endif
#endif
