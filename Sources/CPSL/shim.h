#pragma once

#if !__has_include(<libpsl.h>)
#error "<libpsl.h> is missing. Install libpsl-dev (Debian, Ubuntu) or libpsl-devel (Fedora)."
#endif

#include "../CLinux/library.h"

#include <libpsl.h>

#define SLUICE_PSL(F) \
    F(psl_builtin) F(psl_is_public_suffix)
SLUICE_LIBRARY(sluice_psl, "libpsl.so.5", SLUICE_PSL, (void)0)
