// Counts the allocations of a process that preloads it, and makes it fit for valgrind. The functions take the place of those of the C
// library (glibc).
//
//   clang -O2 -shared -fPIC counting.c -o counting.so && LD_PRELOAD=./counting.so PROGRAM

#define _GNU_SOURCE
#include <errno.h>
#include <signal.h>
#include <stdatomic.h>
#include <stddef.h>
#include <sys/syscall.h>
#include <unistd.h>

extern void *__libc_malloc(size_t);
extern void *__libc_calloc(size_t, size_t);
extern void *__libc_realloc(void *, size_t);
extern void *__libc_memalign(size_t, size_t);

static atomic_ulong count;

static void increase(void) { atomic_fetch_add_explicit(&count, 1, memory_order_relaxed); }

// The number of allocations of all threads so far.
unsigned long count_of_allocations(void) { return atomic_load_explicit(&count, memory_order_relaxed); }

void *malloc(size_t size) {
    increase();
    return __libc_malloc(size);
}

void *calloc(size_t number, size_t size) {
    increase();
    return __libc_calloc(number, size);
}

void *realloc(void *pointer, size_t size) {
    increase();
    return __libc_realloc(pointer, size);
}

void *memalign(size_t alignment, size_t size) {
    increase();
    return __libc_memalign(alignment, size);
}

void *aligned_alloc(size_t alignment, size_t size) { return memalign(alignment, size); }

int posix_memalign(void **pointer, size_t alignment, size_t size) {
    if (alignment < sizeof(void *) || (alignment & (alignment - 1)) != 0) return EINVAL;
    *pointer = memalign(alignment, size);
    return *pointer != NULL || size == 0 ? 0 : ENOMEM;
}

// libdispatch keeps the mask in memory that cannot be written to, and valgrind writes to it.
int sigsuspend(const sigset_t *mask) {
    sigset_t copy = *mask;
    return (int)syscall(SYS_rt_sigsuspend, &copy, _NSIG / 8);
}
