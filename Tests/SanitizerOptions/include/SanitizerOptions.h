#pragma once

// The default options of the sanitizers, linked into the tests. The sanitizers call these functions by name at their start.
const char *__tsan_default_suppressions(void);
const char *__asan_default_options(void);
