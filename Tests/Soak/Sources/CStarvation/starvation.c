#define _GNU_SOURCE
#include "starvation.h"

#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <stdarg.h>
#include <string.h>
#include <sys/resource.h>

static pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;
static struct rlimit normal;
static int is_starved;

static int set_limit(rlim_t current) {
    struct rlimit limit = {current, normal.rlim_max};
    return setrlimit(RLIMIT_NOFILE, &limit);
}

int starvation_begin(unsigned long limit) {
    pthread_mutex_lock(&mutex);
    int result = getrlimit(RLIMIT_NOFILE, &normal);
    if (result == 0) result = set_limit(limit);
    is_starved = result == 0;
    pthread_mutex_unlock(&mutex);
    return result;
}

void starvation_end(void) {
    pthread_mutex_lock(&mutex);
    if (is_starved) set_limit(normal.rlim_cur);
    is_starved = 0;
    pthread_mutex_unlock(&mutex);
}

/// Restores the limit until `end_exemption`, and holds the mutex until then. Returns the lower limit, or 0 if there was none.
static rlim_t exempt(void) {
    pthread_mutex_lock(&mutex);
    struct rlimit limit;
    if (!is_starved || getrlimit(RLIMIT_NOFILE, &limit) != 0) return 0;
    set_limit(normal.rlim_cur);
    return limit.rlim_cur;
}

static void end_exemption(rlim_t low) {
    int error = errno;
    if (low > 0) set_limit(low);
    pthread_mutex_unlock(&mutex);
    errno = error;
}

// The following functions take the place of those of the C library. Without a descriptor, the timers of libdispatch, and with
// them `Task.sleep`, never fire, and libdispatch ends the process if it cannot count its running threads, whose files are in
// /proc. It is therefore exempt from the limit.

int timerfd_create(int clock, int flags) {
    static int (*next)(int, int);
    if (next == NULL) next = dlsym(RTLD_NEXT, "timerfd_create");
    int descriptor = next(clock, flags);
    if (descriptor >= 0 || errno != EMFILE) return descriptor;
    rlim_t low = exempt();
    descriptor = next(clock, flags);
    end_exemption(low);
    return descriptor;
}

int open(const char *path, int flags, ...) {
    static int (*next)(const char *, int, ...);
    if (next == NULL) next = dlsym(RTLD_NEXT, "open");
    mode_t mode = 0;
    if (flags & (O_CREAT | O_TMPFILE)) {
        va_list arguments;
        va_start(arguments, flags);
        mode = va_arg(arguments, mode_t);
        va_end(arguments);
    }
    int descriptor = next(path, flags, mode);
    if (descriptor >= 0 || errno != EMFILE || strncmp(path, "/proc/", 6) != 0) return descriptor;
    rlim_t low = exempt();
    descriptor = next(path, flags, mode);
    end_exemption(low);
    return descriptor;
}
