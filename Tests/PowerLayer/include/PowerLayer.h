/// A layer under a program (LD_PRELOAD) that tells what the program does to the files of a folder,
/// in the order in which it does it, or ends it between two of these calls.
///
/// POWER_ROOT   the folder; what is elsewhere passes through. So does an SQLite index of a log
///              (-shm): it is made anew after a crash, and nobody waits for it to be on a disk.
/// POWER_TRACE  the file that the calls are written to.
/// POWER_KILL   the number of the call, from 1, before which the program ends as by kill -9.
/// POWER_TORN   if set, a write is half done before that.
///
/// A call in the trace is a struct power_call and then the bytes of its path, of its other path and
/// of its data. What goes to standard output is a call too: it is what the world has been told.
#ifndef POWER_LAYER_H
#define POWER_LAYER_H

#include <stdint.h>

enum power_kind {
    POWER_OPEN = 1, /* a file or folder that is there: no change, no number */
    POWER_MAKE,     /* a new, empty file */
    POWER_WRITE,    /* data, at the offset */
    POWER_CUT,      /* the file has the size in the offset */
    POWER_RESERVE,  /* the file has at least the size in the offset */
    POWER_SYNC,     /* bytes of a file, or names of a folder */
    POWER_RENAME,
    POWER_LINK,
    POWER_UNLINK,
    POWER_MAKE_FOLDER,
    POWER_REMOVE_FOLDER,
    POWER_SAY, /* data, to standard output */
};

struct power_call {
    uint64_t kind;
    uint64_t node; /* the file's number; another file may get it when this one is gone */
    uint64_t offset;
    uint64_t path_length;
    uint64_t other_length;
    uint64_t data_length;
};

#endif
