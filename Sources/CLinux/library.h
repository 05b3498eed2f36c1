#pragma once

// Loads a library with its first use instead of with the program. A program that uses neither TLS nor a cache then starts without OpenSSL
// and SQLite. They and the others took a third of its start.

#include <dlfcn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

// Takes the place of the functions of a library that is missing. It returns zero or NULL.
// Where zero means success, the caller also checks the result or `is_complete`.
static inline long sluice_missing_function(void) { return 0; }

// Returns the name of the file that is missing, which may be one that the library needs. Another reason follows in brackets. The caller
// frees the text, if it is not `soname`.
static inline const char *_Nonnull sluice_missing_library(const char *_Nonnull soname, const char *_Nullable problem) {
    const char *absent = ": cannot open shared object file: No such file or directory";
    const char *reason = problem ? strstr(problem, ": ") : NULL;
    if (!reason || reason == problem) return soname;
    if (strcmp(reason, absent) == 0 && strncmp(problem, soname, (size_t)(reason - problem)) == 0 && !soname[reason - problem])
        return soname;
    char *text = (char *)malloc(strlen(problem) + 2);
    if (!text) return soname;
    const char *end = strcmp(reason, absent) == 0 ? "" : ")";
    const char *rest = *end ? reason + 2 : "";
    sprintf(text, "%.*s%s%s%s", (int)(reason - problem), problem, *end ? " (" : "", rest, end);
    return text;
}

#define SLUICE_TEXT(number) SLUICE_QUOTED(number)
#define SLUICE_QUOTED(text) #text

#define SLUICE_FUNCTION(name) __typeof__(&name) _Nonnull name;

#ifdef __APPLE__
// The library is part of the system and linked.
#define SLUICE_OPEN(file) NULL
#define SLUICE_PROBLEM() NULL
#define SLUICE_SYMBOL(name) (void *)name
#else
#define SLUICE_OPEN(file) dlopen(file, RTLD_NOW | RTLD_LOCAL)
#define SLUICE_PROBLEM() dlerror()
#define SLUICE_SYMBOL(name) (handle ? dlsym(handle, #name) : NULL)
#endif

#define SLUICE_LOAD(name) \
    symbol = SLUICE_SYMBOL(name); \
    if (!symbol) loaded->is_complete = 0; \
    *(void **)&loaded->name = symbol ? symbol : (void *)sluice_missing_function;

// Defines a structure of function pointers, and a function of the same name that returns them. The first call loads the library.
//
// - table: The name of both.
// - soname: The name of the library's file, with the version of its interface.
// - FUNCTIONS: A macro that applies its argument to the name of each function.
// - prepare: A statement that uses `loaded`, the complete structure, before another thread sees it.
//
// The structure stays until the process ends. Threads that call the function for the first time at once may fill several, of which one
// stays. After a failure, the next call loads the library again: the process may have had no descriptor. The members besides the functions
// are the name of the file that was loaded or is missing, and `is_complete`: 0 if the library or one of its functions is missing.
#define SLUICE_LIBRARY(table, soname, FUNCTIONS, prepare) \
    struct table { \
        const char *_Nonnull file; \
        int is_complete; \
        FUNCTIONS(SLUICE_FUNCTION) \
    }; \
    static inline const struct table *_Nonnull table(void) { \
        static const struct table *complete, *incomplete; \
        const struct table *first = __atomic_load_n(&complete, __ATOMIC_ACQUIRE); \
        if (first) return first; \
        struct table *loaded = (struct table *)malloc(sizeof(struct table)); \
        if (!loaded) abort(); \
        void *symbol, *handle = SLUICE_OPEN(soname); \
        loaded->file = handle ? soname : sluice_missing_library(soname, SLUICE_PROBLEM()); \
        loaded->is_complete = 1; \
        FUNCTIONS(SLUICE_LOAD) \
        if (loaded->is_complete) { prepare; } \
        const struct table **place = loaded->is_complete ? &complete : &incomplete; \
        first = NULL; \
        if (__atomic_compare_exchange_n(place, &first, loaded, 0, __ATOMIC_ACQ_REL, __ATOMIC_ACQUIRE)) return loaded; \
        if (!handle && strcmp(loaded->file, soname) != 0) free((void *)loaded->file); \
        free(loaded); \
        return first; \
    }
