/* The C side of the conformance list: one function a number, named on the command line.
 *
 * Prints nothing and exits 0 where all is well, else the line that is wrong. */
#define _GNU_SOURCE
#include "conformance.h"

#include <errno.h>
#include <fcntl.h>
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <signal.h>
#include <stddef.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/syscall.h>

static void ignore_token(int token, void *context) { (void)token, (void)context; }

static void a1(void) {
    EXPECT(NOTIFY_STATUS_OK == 0 && NOTIFY_STATUS_INVALID_NAME == 1);
    EXPECT(NOTIFY_STATUS_INVALID_TOKEN == 2 && NOTIFY_STATUS_INVALID_PORT == 3);
    EXPECT(NOTIFY_STATUS_INVALID_FILE == 4 && NOTIFY_STATUS_INVALID_SIGNAL == 5);
    EXPECT(NOTIFY_STATUS_INVALID_REQUEST == 6 && NOTIFY_STATUS_NOT_AUTHORIZED == 7);
    EXPECT(NOTIFY_STATUS_OPT_DISABLE == 8 && NOTIFY_STATUS_SERVER_NOT_FOUND == 9);
    EXPECT(NOTIFY_STATUS_NULL_INPUT == 10 && NOTIFY_STATUS_FAILED == 1000000);
}

static void a2(void) {
    EXPECT(NOTIFY_REUSE == 1 && NOTIFY_TOKEN_INVALID == -1);
    int token = 77;
    EXPECT(notify_register_check(NULL, &token) == 1 && token == NOTIFY_TOKEN_INVALID);
}

static void a3(void) {
    int token, fd;
    EXPECT(notify_register_check(NULL, &token) == 1);
    EXPECT(notify_register_plain(NULL, &token) == 1);
    EXPECT(notify_register_signal(NULL, SIGUSR1, &token) == 1);
    EXPECT(notify_register_file_descriptor(NULL, &fd, 0, &token) == 1);
    EXPECT(notify_register_handler(NULL, &token, ignore_token, NULL) == 1);
    EXPECT(notify_register_event_handler(NULL, &token, NULL, NULL) == 1);
    EXPECT(notify_post(NULL) == 1 && notify_simple_post(NULL) == 1);
    EXPECT(notify_post_one_way(NULL) == 1);
    EXPECT(notify_register_check("\xff", &token) == 1);
}

static void a4(void) {
    int token, own = registered("a4");
    EXPECT(notify_check(own, NULL) == 10 && notify_peek(own, NULL) == 10);
    EXPECT(notify_get_state(own, NULL) == 10);
    EXPECT(notify_register_check("a4", NULL) == 10);
    EXPECT(notify_register_handler("a4", &token, NULL, NULL) == 10 && token == -1);
    EXPECT(notify_register_event_handler("a4", &token, NULL, NULL) == 10);
    EXPECT(notify_register_file_descriptor("a4", NULL, 0, &token) == 4);
    EXPECT(notify_monitor_file(own, NULL, 0) == 6 && notify_monitor_file(own, "a", 0) == 6);
}

static void a5(void) {
    int check, cancelled = registered("a5");
    uint64_t state;
    uint32_t count;
    EXPECT(notify_is_valid_token(cancelled));
    EXPECT(notify_cancel(cancelled) == 0);
    const int wrong[] = {cancelled, -1, 0, 12345, 0x7fffffff};
    for (int i = 0; i < 5; i++) {
        EXPECT(!notify_is_valid_token(wrong[i]));
        EXPECT(notify_check(wrong[i], &check) == 2 && notify_peek(wrong[i], &count) == 2);
        EXPECT(notify_get_state(wrong[i], &state) == 2 && notify_set_state(wrong[i], 1) == 2);
        EXPECT(notify_suspend(wrong[i]) == 2 && notify_resume(wrong[i]) == 2);
        EXPECT(notify_cancel(wrong[i]) == 2 && notify_set_and_post(wrong[i], 1) == 2);
        EXPECT(notify_monitor_file(wrong[i], "/tmp/a", 0) == 2);
    }
}

static void a6(void) {
    int ends[2], token, fd;
    EXPECT(pipe(ends) == 0);
    fd = ends[0];
    EXPECT(notify_register_file_descriptor("a6", &fd, NOTIFY_REUSE, &token) == 4);
    EXPECT(fd == ends[0] && token == -1);
    fd = -1;
    EXPECT(notify_register_file_descriptor("a6", &fd, NOTIFY_REUSE, &token) == 4);
}

static void b1(void) {
    int token = registered("b1");
    EXPECT(checked(token) == 1 && checked(token) == 0);
}

static void b2(void) {
    int token = registered("b2");
    checked(token);
    EXPECT(notify_post("b2") == 0);
    EXPECT(checked(token) == 1 && checked(token) == 0);
}

static void b3(void) {
    int token = registered("b3");
    uint32_t before, after;
    checked(token);
    EXPECT(notify_peek(token, &before) == 0);
    for (int i = 0; i < 5; i++) EXPECT(notify_post("b3") == 0);
    EXPECT(checked(token) == 1 && checked(token) == 0);
    EXPECT(notify_peek(token, &after) == 0 && after - before == 5);
}

/* Any system call but the last two kills this process. */
static void allow_nothing(void) {
    struct sock_filter filter[] = {
        BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(struct seccomp_data, nr)),
        BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, SYS_exit_group, 2, 0),
        BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, SYS_write, 1, 0),
        BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_KILL_PROCESS),
        BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW),
    };
    struct sock_fprog program = {.len = sizeof filter / sizeof *filter, .filter = filter};
    EXPECT(prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) == 0);
    EXPECT(prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &program) == 0);
}

/* The filter binds this thread alone: the library's own may go on. */
static void b9(void) {
    enum { ROUNDS = 1000000 };
    int check, token = registered("b9");
    uint64_t state;
    uint32_t count;
    struct timespec start, middle, end;
    EXPECT(notify_set_state(token, 9) == 0);
    clock_gettime(CLOCK_MONOTONIC, &start);
    for (int i = 0; i < ROUNDS; i++) notify_check(token, &check);
    clock_gettime(CLOCK_MONOTONIC, &middle);
    for (int i = 0; i < ROUNDS; i++) notify_get_state(token, &state);
    clock_gettime(CLOCK_MONOTONIC, &end);
    printf("check %.1f ns, get_state %.1f ns\n", nanoseconds(&start, &middle, ROUNDS),
           nanoseconds(&middle, &end, ROUNDS));
    fflush(stdout);
    allow_nothing();
    for (int i = 0; i < 1000; i++) {
        if (notify_check(token, &check) != 0 || check != 0) _exit(2);
        if (notify_get_state(token, &state) != 0 || state != 9) _exit(3);
        if (notify_peek(token, &count) != 0) _exit(4);
    }
    _exit(0);
}

static void c1(void) { EXPECT(state_of(registered("c1")) == 0); }

static void c2(void) {
    int token = registered("c2");
    const uint64_t states[] = {0, 1, 1ull << 63, ~0ull};
    for (int i = 0; i < 4; i++) {
        EXPECT(notify_set_state(token, states[i]) == 0 && state_of(token) == states[i]);
        EXPECT(notify_set_and_post(token, states[i] ^ 5) == 0);
        EXPECT(state_of(token) == (states[i] ^ 5));
    }
}

int seen[2];

void tell_token(int token, void *context) {
    int told[2] = {token, *(int *)context};
    /* Every call may be made here. */
    EXPECT(notify_is_valid_token(token) && notify_set_state(token, 71) == 0);
    EXPECT(write(seen[1], told, sizeof told) == sizeof told);
}

static void tell_event(const struct notify_event *event, void *context) {
    (void)context;
    EXPECT(write(seen[1], event, sizeof *event) == sizeof *event);
}

static void d1(void) {
    int token, other, told[2], context = 4711;
    struct notify_event event;
    EXPECT(pipe(seen) == 0);
    EXPECT(notify_register_handler("d1", &token, tell_token, &context) == 0);
    EXPECT(notify_post("d1") == 0 && readable(seen[0], WAIT_MS));
    EXPECT(read(seen[0], told, sizeof told) == sizeof told);
    EXPECT(told[0] == token && told[1] == 4711 && state_of(token) == 71);
    EXPECT(notify_cancel(token) == 0 && notify_post("d1") == 0);
    EXPECT(!readable(seen[0], SILENCE_MS));
    EXPECT(notify_register_event_handler("d1.event", &other, tell_event, NULL) == 0);
    EXPECT(notify_set_and_post(other, 12) == 0 && readable(seen[0], WAIT_MS));
    EXPECT(read(seen[0], &event, sizeof event) == sizeof event);
    EXPECT(event.token == other && event.state == 12 && event.merged == 1 && event.post == 1);
    EXPECT(event.pid == getpid() && event.uid == geteuid() && event.cause == NOTIFY_CAUSE_POST);
}

static void d2(void) {
    int token, fd;
    uint8_t bytes[4];
    EXPECT(notify_register_file_descriptor("d2", &fd, 0, &token) == 0);
    EXPECT(fcntl(fd, F_GETFD) & FD_CLOEXEC);
    EXPECT(notify_post("d2") == 0 && readable(fd, WAIT_MS) && read(fd, bytes, 4) == 4);
    EXPECT((bytes[0] << 24 | bytes[1] << 16 | bytes[2] << 8 | bytes[3]) == token);
}

static void d3(void) {
    int one, two, fd, same;
    EXPECT(notify_register_file_descriptor("d3.one", &fd, 0, &one) == 0);
    same = fd;
    EXPECT(notify_register_file_descriptor("d3.two", &same, NOTIFY_REUSE, &two) == 0);
    EXPECT(same == fd && one != two);
    EXPECT(notify_post("d3.two") == 0 && next_token(fd) == two);
    EXPECT(notify_post("d3.one") == 0 && next_token(fd) == one);
}

static void d4(void) {
    int one, two, fd;
    EXPECT(notify_register_file_descriptor("d4", &fd, 0, &one) == 0);
    EXPECT(notify_register_file_descriptor("d4", &fd, NOTIFY_REUSE, &two) == 0);
    EXPECT(notify_cancel(one) == 0 && fcntl(fd, F_GETFD) >= 0);
    EXPECT(notify_post("d4") == 0 && next_token(fd) == two);
    EXPECT(notify_cancel(two) == 0);
    EXPECT(fcntl(fd, F_GETFD) < 0 && errno == EBADF);
    EXPECT(notify_register_file_descriptor("d4", &fd, NOTIFY_REUSE, &one) == 4);
}

static void d5(void) {
    int one, two;
    sigset_t set;
    struct timespec limit = {.tv_sec = WAIT_MS / 1000};
    sigemptyset(&set);
    sigaddset(&set, SIGUSR1);
    EXPECT(sigprocmask(SIG_BLOCK, &set, NULL) == 0);
    EXPECT(notify_register_signal("d5.one", SIGUSR1, &one) == 0);
    EXPECT(notify_register_signal("d5.two", SIGUSR1, &two) == 0);
    EXPECT(checked(one) == 1 && checked(two) == 1);
    EXPECT(notify_post("d5.two") == 0);
    EXPECT(sigtimedwait(&set, NULL, &limit) == SIGUSR1);
    EXPECT(checked(one) == 0 && checked(two) == 1);
    EXPECT(kill(getpid(), SIGUSR1) == 0);
    EXPECT(sigtimedwait(&set, NULL, &limit) == SIGUSR1);
    EXPECT(checked(one) == 0 && checked(two) == 0);
}

int main(int count, char **arguments) {
    static const struct {
        const char *name;
        void (*run)(void);
    } tests[] = {
        {"A1", a1}, {"A2", a2}, {"A3", a3}, {"A4", a4}, {"A5", a5}, {"A6", a6}, {"B1", b1},
        {"B2", b2}, {"B3", b3}, {"B9", b9}, {"C1", c1}, {"C2", c2}, {"D1", d1}, {"D2", d2},
        {"D3", d3}, {"D4", d4}, {"D5", d5}, {"G1", fork_in_use}, {"hold", hold},
        {"G2", exec_in_use}, {"after exec", after_exec}, {"G5", without_broker},
        {"listen", listen_for_ever},
    };
    for (size_t i = 0; count == 2 && i < sizeof tests / sizeof *tests; i++) {
        if (strcmp(tests[i].name, arguments[1]) != 0) continue;
        tests[i].run();
        return 0;
    }
    fprintf(stderr, "usage: conformance NUMBER\n");
    return 64;
}
