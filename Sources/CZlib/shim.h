#pragma once

#include <zlib.h>

// Starts a gzip stream; wraps deflateInit2, a macro that Swift does not import. A window of 15 bits is the largest; 16 more select gzip framing
// instead of zlib's.
static inline int sluice_gzip_begin(z_stream *stream, int level) {
    return deflateInit2(stream, level, Z_DEFLATED, 15 + 16, 8, Z_DEFAULT_STRATEGY);
}
