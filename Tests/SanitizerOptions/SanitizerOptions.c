#include "SanitizerOptions.h"

// Where a continuation is resumed by another thread before its task has come to wait for it, the concurrency runtime
// goes on without a word to the sanitizer, which then takes the continuation's own frame for raced over. Only reports whose
// innermost frame is the standard library's are meant: what a program itself shares is reported as ever.
const char *__tsan_default_suppressions(void) {
    return "race_top:withUnsafeContinuation\n"
           "race_top:withCheckedContinuation\n"
           "race_top:Scc6resume\n";
}

// The leak checker does not see pointers that Swift keeps in an enum beside its tag, and reports static constants as
// leaked. Besides, a process that ends with transfers in flight leaves them to the system, which is tested.
const char *__asan_default_options(void) {
    return "detect_leaks=0";
}
