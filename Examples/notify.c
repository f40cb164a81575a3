/* The bus from C: registers a name in two ways, sets its state and posts, and tells what comes.
 *
 *   cc notify.c -I.../include -lintel-notify && ./a.out */
#include <arpa/inet.h>
#include <inttypes.h>
#include <notify.h>
#include <stdio.h>
#include <unistd.h>

static int failed(const char *what, uint32_t status) {
    fprintf(stderr, "%s: status %" PRIu32 "\n", what, status);
    return 1;
}

int main(void) {
    static const char name[] = "com.example.door";
    int door, news, fd, changed;
    uint32_t status = notify_register_check(name, &door);
    if (status != NOTIFY_STATUS_OK) return failed("register", status);
    status = notify_register_file_descriptor(name, &fd, 0, &news);
    if (status != NOTIFY_STATUS_OK) return failed("register a descriptor", status);
    notify_check(door, &changed); /* the first check is always true */

    status = notify_set_and_post(door, 42);
    if (status != NOTIFY_STATUS_OK) return failed("post", status);

    uint32_t token; /* in network byte order */
    if (read(fd, &token, sizeof token) != sizeof token) return failed("read", 0);
    uint64_t state;
    notify_get_state(door, &state);
    notify_check(door, &changed);
    printf("%s: changed %d, state %" PRIu64 ", token is ours %d\n", name, changed, state,
           (int)ntohl(token) == news);
    notify_cancel(news); /* closes fd as well */
    notify_cancel(door);
    return 0;
}
