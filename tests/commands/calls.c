/* Counts the calls of the system that change files, SQLite's as well; the one of a number kills the process or fails.
 *
 * Loaded by LD_PRELOAD. `calls_arm(at, error)` begins to count: with `error` 0 the call of number `at` kills, before it
 * is made where the number is even, and where it is odd when it has written half, or after it; otherwise it fails with
 * that error, once. `calls_seen` is how many there were. Regular files alone count, from descriptor 3 on.
 *
 * `calls_record(handle)` begins to write down there each of these calls that was made, in their order, also those of
 * several threads: what it was, its path, a place or size, and the bytes that were written (`tests/kills/disks.py`). */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <pthread.h>
#include <signal.h>
#include <stdarg.h>
#include <stdatomic.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

static atomic_int seen, fatal, failing;
static int trace = -1;
static pthread_mutex_t turns = PTHREAD_MUTEX_INITIALIZER; /* while a trace is written: calls and records in one order */

void calls_arm(int at, int error) {
    seen = 0;
    failing = error;
    fatal = at;
}

int calls_seen(void) { return seen; }

void calls_record(int handle) { trace = handle; }

static void *real(const char *name) { return dlsym(RTLD_NEXT, name); }

static int is_file(int handle) {
    struct stat found;
    return handle > 2 && fstat(handle, &found) == 0 && S_ISREG(found.st_mode);
}

static void die(void) { kill(getpid(), SIGKILL); }

/* 0: make the call; 1: make half of it, or all, and die; 2: it has failed. */
static int turn(int counts) {
    if (!fatal || !counts || ++seen != fatal)
        return 0;
    if (failing) {
        errno = failing;
        return 2;
    }
    if (fatal % 2 == 0)
        die();
    return 1;
}

/* --- the trace ----------------------------------------------------------------------------------------------------- */

static void put(const void *from, size_t size) {
    static ssize_t (*call)(int, const void *, size_t);
    if (!call)
        call = (ssize_t(*)(int, const void *, size_t))real("write");
    for (ssize_t done; size > 0; from = (const char *)from + done, size -= done)
        if ((done = call(trace, from, size)) <= 0)
            die();
}

static void record(const char *what, const char *path, const char *other, long long at, const void *from, size_t size) {
    char head[96];
    int error = errno;
    put(head, sprintf(head, "%s %zu %zu %lld %zu\n", what, strlen(path), strlen(other), at, size));
    put(path, strlen(path));
    put(other, strlen(other));
    put(from, size);
    errno = error;
}

static void record_handle(const char *what, int handle, long long at, const void *from, size_t size) {
    char link[64], path[PATH_MAX];
    sprintf(link, "/proc/self/fd/%d", handle);
    ssize_t length = readlink(link, path, sizeof path - 1);
    path[length < 0 ? 0 : length] = 0;
    record(what, path, "", at, from, size);
}

static int begin(void) {
    if (trace < 0)
        return 0;
    pthread_mutex_lock(&turns);
    return 1;
}

static void end(int records) {
    if (records)
        pthread_mutex_unlock(&turns);
}

/* --- the calls ----------------------------------------------------------------------------------------------------- */

#define HALVED(name, parameters, whole, half, place)                                                                   \
    ssize_t name parameters {                                                                                          \
        static ssize_t(*call) parameters;                                                                              \
        if (!call)                                                                                                     \
            call = (ssize_t(*) parameters)real(#name);                                                                 \
        int counts = is_file(handle), what = turn(counts);                                                             \
        if (what == 2)                                                                                                 \
            return -1;                                                                                                 \
        if (what == 1) {                                                                                               \
            call half;                                                                                                 \
            die();                                                                                                     \
        }                                                                                                              \
        int records = counts && begin();                                                                               \
        ssize_t done = call whole;                                                                                     \
        if (records && done >= 0)                                                                                      \
            record_handle("write", handle, place, from, done);                                                         \
        end(records);                                                                                                  \
        return done;                                                                                                   \
    }

HALVED(write, (int handle, const void *from, size_t size), (handle, from, size), (handle, from, (size + 1) / 2),
       lseek(handle, 0, SEEK_CUR) - done)
HALVED(pwrite, (int handle, const void *from, size_t size, off_t at), (handle, from, size, at),
       (handle, from, (size + 1) / 2, at), at)
HALVED(pwrite64, (int handle, const void *from, size_t size, off64_t at), (handle, from, size, at),
       (handle, from, (size + 1) / 2, at), at)

#define WHOLE(name, parameters, arguments, counts, records_it)                                                         \
    int name parameters {                                                                                              \
        static int(*call) parameters;                                                                                  \
        if (!call)                                                                                                     \
            call = (int(*) parameters)real(#name);                                                                     \
        int what = turn(counts);                                                                                       \
        if (what == 2)                                                                                                 \
            return -1;                                                                                                 \
        int records = begin();                                                                                         \
        int found = call arguments;                                                                                    \
        if (records && found == 0)                                                                                     \
            records_it;                                                                                                \
        end(records);                                                                                                  \
        if (what == 1)                                                                                                 \
            die();                                                                                                     \
        return found;                                                                                                  \
    }

WHOLE(fsync, (int handle), (handle), 1, record_handle("sync", handle, 0, "", 0))
WHOLE(fdatasync, (int handle), (handle), is_file(handle), record_handle("sync", handle, 0, "", 0))
WHOLE(ftruncate, (int handle, off_t size), (handle, size), is_file(handle),
      record_handle("truncate", handle, size, "", 0))
WHOLE(ftruncate64, (int handle, off64_t size), (handle, size), is_file(handle),
      record_handle("truncate", handle, size, "", 0))
WHOLE(unlink, (const char *path), (path), 1, record("unlink", path, "", 0, "", 0))
WHOLE(mkdir, (const char *path, mode_t mode), (path, mode), 0, record("mkdir", path, "", 0, "", 0))
WHOLE(rename, (const char *from, const char *to), (from, to), 1, record("rename", from, to, 0, "", 0))

#define OPENED(name)                                                                                                   \
    int name(const char *path, int flags, ...) {                                                                       \
        static int (*call)(const char *, int, ...);                                                                    \
        if (!call)                                                                                                     \
            call = (int (*)(const char *, int, ...))real(#name);                                                       \
        va_list more;                                                                                                  \
        va_start(more, flags);                                                                                         \
        int mode = flags & O_CREAT ? va_arg(more, int) : 0;                                                            \
        va_end(more);                                                                                                  \
        int what = turn((flags & O_CREAT) != 0);                                                                       \
        if (what == 2)                                                                                                 \
            return -1;                                                                                                 \
        int records = (flags & O_CREAT) && begin();                                                                    \
        int found = call(path, flags, mode);                                                                           \
        if (records && is_file(found))                                                                                 \
            record_handle(flags & O_TRUNC ? "empty" : "open", found, 0, "", 0);                                        \
        end(records);                                                                                                  \
        if (what == 1)                                                                                                 \
            die();                                                                                                     \
        return found;                                                                                                  \
    }

OPENED(open)
OPENED(open64)
