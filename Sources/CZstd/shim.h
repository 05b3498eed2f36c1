#pragma once

#if !__has_include(<zstd.h>)
#error "<zstd.h> is missing. Install libzstd-dev (Debian, Ubuntu) or libzstd-devel (Fedora)."
#endif

#include "../CLinux/library.h"

#include <zstd.h>
#include <zstd_errors.h>

#define SLUICE_ZSTD(F) \
    F(ZSTD_DCtx_setParameter) F(ZSTD_createDCtx) F(ZSTD_decompressStream) F(ZSTD_freeDCtx) F(ZSTD_getErrorCode) F(ZSTD_isError)
SLUICE_LIBRARY(sluice_zstd, "libzstd.so.1", SLUICE_ZSTD, (void)0)
