/* The header is the contract; Sources/NotifyC keeps it. This file makes the compiler read it as C,
 * and holds it to the numbers of notify(3). */
#include "notify.h"

_Static_assert(NOTIFY_REUSE == 1 && NOTIFY_TOKEN_INVALID == -1, "constants");
_Static_assert(sizeof(struct notify_event) == 48, "an event is 48 bytes, as on the wire");
