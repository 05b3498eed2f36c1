#pragma once

// What the thread sanitizer must not report, linked into the tests; it asks for this by name when it starts.
const char *__tsan_default_suppressions(void);
