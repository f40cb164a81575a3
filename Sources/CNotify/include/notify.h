/* notify.h: the bus of intel, with the calls and the numbers of notify(3).
 *
 * A program registers a name and gets a token. Whoever posts the name makes every registration of
 * it, in every process, hear of it: by notify_check, by a signal, by a file descriptor, or by a
 * function. A name carries a 64-bit state as long as it is registered anywhere.
 *
 * Link with -lintel-notify. The bus is where INTEL_BUS says; else it is the service's,
 * /run/intel/bus.sock, if a broker answers there (for root always); else
 * $XDG_RUNTIME_DIR/intel/bus.sock, else /tmp/intel-UID/bus.sock. The library connects with the
 * first call that needs it; without a broker calls return 9 at once, and work as soon as there is
 * one. When a broker goes and comes back, tokens stay as they are.
 *
 * Every call may be made from any thread. A call that asks the broker waits for its answer, 1 s at
 * the most, and then returns 9; until a late answer comes further calls return 9 at once. A signal
 * handler may call notify_check and notify_get_state alone, on names that are not "self." ones.
 *
 * Not on Linux: notify_register_mach_port, and the dispatch queue and block of
 * notify_register_dispatch; notify_register_handler is in its place. */
#ifndef NOTIFY_H
#define NOTIFY_H

#include <stdbool.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

#define NOTIFY_STATUS_OK 0
#define NOTIFY_STATUS_INVALID_NAME 1
#define NOTIFY_STATUS_INVALID_TOKEN 2
#define NOTIFY_STATUS_INVALID_PORT 3 /* never returned here */
#define NOTIFY_STATUS_INVALID_FILE 4
#define NOTIFY_STATUS_INVALID_SIGNAL 5 /* never returned */
#define NOTIFY_STATUS_INVALID_REQUEST 6
#define NOTIFY_STATUS_NOT_AUTHORIZED 7
#define NOTIFY_STATUS_OPT_DISABLE 8
#define NOTIFY_STATUS_SERVER_NOT_FOUND 9
#define NOTIFY_STATUS_NULL_INPUT 10
#define NOTIFY_STATUS_FAILED 1000000

#define NOTIFY_REUSE 0x00000001
#define NOTIFY_TOKEN_INVALID (-1)

/* --- posting --- */

/* Tells every registration of `name`, this process's own included; nobody there is no error.
 * Unlike on Darwin a refusal is an answer: 7 where the name may not be posted. */
uint32_t notify_post(const char *name);

/* The same: kept for programs that use it. */
uint32_t notify_simple_post(const char *name);

/* --- registering: 1 for a null or overlong name (over 511 bytes, or not UTF-8), 7, 8, 9, and 10
 * for a null out_token, which is set to NOTIFY_TOKEN_INVALID where a call fails --- */

/* For notify_check and notify_get_state alone, which make no system call. */
uint32_t notify_register_check(const char *name, int *out_token);

/* The same; on Darwin its checks ask the daemon. */
uint32_t notify_register_plain(const char *name, int *out_token);

/* Sends this process signal `sig`; notify_check then tells which name it was for. */
uint32_t notify_register_signal(const char *name, int sig, int *out_token);

/* Writes the token, 4 bytes in network byte order, to a pipe, and puts its end to read into
 * *notify_fd. With NOTIFY_REUSE in `flags`, *notify_fd is one that an earlier call has made; any
 * other is 4, and so is a null pointer. The library closes it with the last token that uses it.
 * A pipe that was full gets the tokens that wait when it drains. */
uint32_t notify_register_file_descriptor(const char *name, int *notify_fd, int flags,
                                         int *out_token);

/* Called with the token and `context` for each delivery. Handlers run on a thread of the library,
 * with all signals blocked, one after the other; posts meanwhile merge. They may make every call.
 * When notify_cancel has returned, elsewhere than in the handler itself, the handler does not run
 * and will not, so that what `context` leads to may be freed. A null handler is 10. */
typedef void (*notify_handler_t)(int token, void *context);
uint32_t notify_register_handler(const char *name, int *out_token, notify_handler_t handler,
                                 void *context);

/* --- tokens: 2 where `token` is none of this process --- */

/* *check is 1 at the first call, then 1 if the name was posted since the last one, once for any
 * number of posts; else 0. Each token has its own. A null pointer is 10. */
uint32_t notify_check(int token, int *check);

/* The number of posts of the name, modulo 2^32. */
uint32_t notify_peek(int token, uint32_t *val);

/* The state of the token's name: it belongs to the name, is 0 at first, and is gone with the last
 * registration of the name anywhere. Setting it posts nothing. 7 where it may not be set. */
uint32_t notify_set_state(int token, uint64_t state);
uint32_t notify_get_state(int token, uint64_t *state);

/* Holds the token's deliveries, and lets them come again: as many resumes as suspends, without a
 * limit. What was posted meanwhile is one delivery. One resume too many does nothing. */
uint32_t notify_suspend(int token);
uint32_t notify_resume(int token);

/* Ends a registration. */
uint32_t notify_cancel(int token);
bool notify_is_valid_token(int token);

/* Tells this token alone when the file at `path`, which need not exist yet, changes; changes merge
 * over 100 ms. 6 for a relative or null path, for a "self." name, and for a second, other path.
 * 0 in `flags` means all of these. The kernel tells no difference between WRITE and EXTEND, nor
 * between ATTRIB and LINK. */
#define NOTIFY_FILE_DELETE 0x001
#define NOTIFY_FILE_WRITE 0x002
#define NOTIFY_FILE_EXTEND 0x004
#define NOTIFY_FILE_ATTRIB 0x008
#define NOTIFY_FILE_LINK 0x010
#define NOTIFY_FILE_RENAME 0x020
#define NOTIFY_FILE_REVOKE 0x040
#define NOTIFY_FILE_CREATE 0x080
#define NOTIFY_FILE_MTIME 0x100
#define NOTIFY_FILE_CTIME 0x200
uint32_t notify_monitor_file(int token, const char *path, int flags);

/* --- the process --- */

/* NOTIFY_OPT_DISABLE: calls on names of the bus return 8, and registrations stay as they are.
 * NOTIFY_OPT_ENABLE: they work again. Other bits do nothing: what they ask for is always so.
 *
 * A child forked from a process that has used the library is disabled in this way, and the tokens
 * of its parent are invalid in it; after NOTIFY_OPT_ENABLE it is a client of its own. A process
 * that has called exec starts anew. "self." names always work. */
#define NOTIFY_OPT_DISPATCH 0x00000001
#define NOTIFY_OPT_REGEN 0x00000002
#define NOTIFY_OPT_ENABLE 0x04000000
#define NOTIFY_OPT_DISABLE 0x08000000
void notify_set_options(uint32_t options);

/* Not offered: 6. A process can be held by SIGSTOP, and its posts merge meanwhile. */
uint32_t notify_suspend_pid(int pid);
uint32_t notify_resume_pid(int pid);

/* --- what this bus adds --- */

/* One delivery, in full. */
struct notify_event {
    int32_t token;
    uint32_t merged;     /* posts that it stands for, from 1 */
    uint64_t post;       /* number of the latest of them, from 1 */
    uint64_t state;      /* the name's state at that post */
    uint64_t connection; /* number of the sender's connection */
    int32_t pid;         /* of the sender, by the kernel's word */
    uint32_t uid;        /* of the sender, by the kernel's word */
    uint32_t cause;      /* NOTIFY_CAUSE_... */
    uint32_t reserved;
};

#define NOTIFY_CAUSE_POST 0
#define NOTIFY_CAUSE_LEFT 1    /* the claimer of the name said goodbye */
#define NOTIFY_CAUSE_DIED 2    /* the claimer's connection ended without */
#define NOTIFY_CAUSE_EXPIRED 3 /* the claimer's deadline passed */

/* As notify_register_handler, with the event; it is valid until the handler returns. */
typedef void (*notify_event_handler_t)(const struct notify_event *event, void *context);
uint32_t notify_register_event_handler(const char *name, int *out_token,
                                       notify_event_handler_t handler, void *context);

/* Sets the state and posts, as one: nobody sees the one without the other. */
uint32_t notify_set_and_post(int token, uint64_t state);

/* Posts without waiting for the broker's answer, or for room on the way to it. What is refused or
 * lost is counted; what could not even be sent is told as well. */
uint32_t notify_post_one_way(const char *name);
uint64_t notify_one_way_errors(void);

#ifdef __cplusplus
}
#endif

#endif
