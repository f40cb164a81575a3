/* The conformance list's part G, and programs that a test stops and kills. */
#define _GNU_SOURCE
#include "conformance.h"

#include <fcntl.h>
#include <pthread.h>
#include <signal.h>
#include <stdlib.h>
#include <sys/wait.h>

static void in_child(int parents) {
    int token, check;
    alarm(20); /* a deadlock ends here */
    EXPECT(notify_post("g1") == 8 && notify_register_check("g1", &token) == 8);
    EXPECT(notify_register_signal("g1", SIGUSR1, &token) == 8);
    EXPECT(notify_check(parents, &check) == 2 && notify_cancel(parents) == 2);
    EXPECT(notify_set_state(parents, 1) == 2 && !notify_is_valid_token(parents));
    token = registered("self.g1");
    EXPECT(checked(token) == 1 && notify_post("self.g1") == 0 && checked(token) == 1);
    notify_set_options(NOTIFY_OPT_ENABLE);
    token = registered("g1");
    EXPECT(notify_set_and_post(token, 99) == 0 && state_of(token) == 99);
    _exit(0);
}

/* Is nearly always inside a call, so that a fork finds locks held. */
static void *keep_busy(void *argument) {
    while (1) notify_post("g1.busy");
    return argument;
}

void fork_in_use(void) {
    pthread_t thread;
    int status, token = registered("g1");
    checked(token);
    EXPECT(pthread_create(&thread, NULL, keep_busy, NULL) == 0);
    for (int i = 0; i < 20; i++) {
        pid_t child = fork();
        if (child == 0) in_child(token);
        EXPECT(waitpid(child, &status, 0) == child);
        EXPECT(WIFEXITED(status) && WEXITSTATUS(status) == 0);
        EXPECT(checked(token) == 1 && state_of(token) == 99);
        EXPECT(notify_post("g1") == 0 && checked(token) == 1);
    }
}

/* Waits until the process is killed; holds a registration and a state meanwhile. */
void hold(void) {
    int token = registered("hold");
    EXPECT(notify_set_state(token, 5) == 0);
    /* A child that outlives it must not keep its registrations alive. */
    if (fork() == 0) {
        poll(NULL, 0, 10000);
        _exit(0);
    }
    puts("held");
    fflush(stdout);
    pause();
}

static int open_files(void) {
    int found = 0;
    for (int fd = 0; fd < 256; fd++) found += fcntl(fd, F_GETFD) >= 0;
    return found;
}

/* The image after exec: nothing of the first one is left but its pid. */
void after_exec(void) {
    int one, two, told[2], context = 1;
    EXPECT(open_files() == atoi(getenv("FILES")) && !notify_is_valid_token(2));
    one = registered("g2");
    EXPECT(checked(one) == 1 && checked(one) == 0);
    EXPECT(pipe(seen) == 0 && notify_register_handler("g2", &two, tell_token, &context) == 0);
    EXPECT(!readable(seen[0], SILENCE_MS));
    EXPECT(notify_post("g2") == 0 && checked(one) == 1 && readable(seen[0], WAIT_MS));
    EXPECT(read(seen[0], told, sizeof told) == sizeof told && told[0] == two);
    EXPECT(notify_cancel(one) == 0 && notify_cancel(two) == 0);
}

void exec_in_use(void) {
    int fd, token;
    char files[16];
    snprintf(files, sizeof files, "%d", open_files());
    setenv("FILES", files, 1);
    EXPECT(notify_register_file_descriptor("g2", &fd, 0, &token) == 0);
    registered("g2");
    execl("/proc/self/exe", "conformance", "after exec", NULL);
    EXPECT(!"exec");
}

/* Without a broker: status 9 at once, and self. names all the same. */
void without_broker(void) {
    int token, own;
    struct timespec start, end;
    clock_gettime(CLOCK_MONOTONIC, &start);
    for (int i = 0; i < 100; i++) {
        EXPECT(notify_post("g5") == 9 && notify_register_check("g5", &token) == 9);
        EXPECT(notify_post_one_way("g5") == 9);
    }
    clock_gettime(CLOCK_MONOTONIC, &end);
    EXPECT(nanoseconds(&start, &end, 1) < 2e9 && notify_one_way_errors() == 100);
    own = registered("self.g5");
    EXPECT(notify_set_state(own, 3) == 0 && state_of(own) == 3 && checked(own) == 1);
}

static void print_event(const struct notify_event *event, void *context) {
    (void)context;
    printf("%llu\n", (unsigned long long)event->post);
    fflush(stdout);
}

/* Prints the number of each post of "listen" until the process is killed. */
void listen_for_ever(void) {
    int token;
    EXPECT(notify_register_event_handler("listen", &token, print_event, NULL) == 0);
    puts("0");
    fflush(stdout);
    while (1) pause();
}
