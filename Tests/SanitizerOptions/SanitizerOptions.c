#include "SanitizerOptions.h"

// If another thread resumes a continuation before its task waits for it, the concurrency runtime proceeds without informing the
// sanitizer. The sanitizer then reports a race on the continuation's frame. The patterns match only reports whose innermost frame
// is in the standard library. Races of the program itself are still reported.
const char *__tsan_default_suppressions(void) {
    return "race_top:withUnsafeContinuation\n"
           "race_top:withCheckedContinuation\n"
           "race_top:Scc6resume\n";
}

// The leak checker does not see pointers that Swift stores in an enum with its tag, and reports static constants as leaks. Also,
// some tests exit a process with transfers in progress, which the system cleans up.
const char *__asan_default_options(void) {
    return "detect_leaks=0";
}
