// Counts the allocations of a process that preloads it. The functions take the place of those of the C library (glibc), and call them.
//
//   clang -O2 -shared -fPIC allocations.c -o allocations.so && LD_PRELOAD=./allocations.so PROGRAM

#include <errno.h>
#include <stdatomic.h>
#include <stddef.h>

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
