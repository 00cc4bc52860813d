/* Counts the calls of the system that change files, SQLite's as well; the one of a number kills the process or fails.
 *
 * Loaded by LD_PRELOAD. `calls_arm(at, error)` begins to count: with `error` 0 the call of number `at` kills, before it
 * is made where the number is even, and where it is odd when it has written half, or after it; otherwise it fails with
 * that error, once. `calls_seen` is how many there were. Regular files alone count, from descriptor 3 on. */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdarg.h>
#include <stdatomic.h>
#include <sys/stat.h>
#include <unistd.h>

static atomic_int seen, fatal, failing;

void calls_arm(int at, int error) {
    seen = 0;
    failing = error;
    fatal = at;
}

int calls_seen(void) { return seen; }

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

#define HALVED(name, parameters, whole, half)                                                                          \
    ssize_t name parameters {                                                                                          \
        static ssize_t(*call) parameters;                                                                              \
        if (!call)                                                                                                     \
            call = (ssize_t(*) parameters)real(#name);                                                                 \
        int what = turn(is_file(handle));                                                                              \
        if (what == 2)                                                                                                 \
            return -1;                                                                                                 \
        if (what == 1) {                                                                                               \
            call half;                                                                                                 \
            die();                                                                                                     \
        }                                                                                                              \
        return call whole;                                                                                             \
    }

HALVED(write, (int handle, const void *from, size_t size), (handle, from, size), (handle, from, (size + 1) / 2))
HALVED(pwrite, (int handle, const void *from, size_t size, off_t at), (handle, from, size, at),
       (handle, from, (size + 1) / 2, at))
HALVED(pwrite64, (int handle, const void *from, size_t size, off64_t at), (handle, from, size, at),
       (handle, from, (size + 1) / 2, at))

#define WHOLE(name, parameters, arguments, counts)                                                                     \
    int name parameters {                                                                                              \
        static int(*call) parameters;                                                                                  \
        if (!call)                                                                                                     \
            call = (int(*) parameters)real(#name);                                                                     \
        int what = turn(counts);                                                                                       \
        if (what == 2)                                                                                                 \
            return -1;                                                                                                 \
        int found = call arguments;                                                                                    \
        if (what == 1)                                                                                                 \
            die();                                                                                                     \
        return found;                                                                                                  \
    }

WHOLE(fsync, (int handle), (handle), 1)
WHOLE(fdatasync, (int handle), (handle), is_file(handle))
WHOLE(ftruncate, (int handle, off_t size), (handle, size), is_file(handle))
WHOLE(ftruncate64, (int handle, off64_t size), (handle, size), is_file(handle))
WHOLE(unlink, (const char *path), (path), 1)
WHOLE(rename, (const char *from, const char *to), (from, to), 1)

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
        int found = call(path, flags, mode);                                                                           \
        if (what == 1)                                                                                                 \
            die();                                                                                                     \
        return found;                                                                                                  \
    }

OPENED(open)
OPENED(open64)
