#pragma once

#if !__has_include(<brotli/decode.h>)
#error "<brotli/decode.h> is missing. Install libbrotli-dev (Debian, Ubuntu) or brotli-devel (Fedora)."
#endif

#include "../CLinux/library.h"

#include <brotli/decode.h>

#define SLUICE_BROTLI(F) \
    F(BrotliDecoderCreateInstance) F(BrotliDecoderDecompressStream) F(BrotliDecoderDestroyInstance) F(BrotliDecoderGetErrorCode)
SLUICE_LIBRARY(sluice_brotli, "libbrotlidec.so.1", SLUICE_BROTLI, (void)0)
