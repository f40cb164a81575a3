#pragma once

/* Two copies of SQLite in one process that open the same file lose each other's locks: POSIX gives
 * all of a process's locks on a file back when any one of its descriptors is closed
 * (https://www.sqlite.org/howtocorrupt.html, 2.2). So a loadable extension must not bring its own
 * copy for hot.db. This target defines the sqlite3_ calls that the room SQLite makes, each handing
 * on to the host's; the linker then takes nothing from libsqlite3, and a call that is missing here
 * is a link error with the static archive. */

/* Takes the table of calls that a host hands to an extension (a sqlite3_api_routines).
 * Gives the version of the host's SQLite, as 3040001; 0 if another copy has loaded this library
 * before: one library cannot serve two. */
int chostsqlite_use(const void *routines);
