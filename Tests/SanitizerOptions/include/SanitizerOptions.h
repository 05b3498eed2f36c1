#pragma once

// What the sanitizers do by default, linked into the tests; they ask for these by name when they start.
const char *__tsan_default_suppressions(void);
const char *__asan_default_options(void);
