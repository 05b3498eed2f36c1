#pragma once

#include <zlib.h>

// zlib's own name for this is a macro that adds the size of z_stream, which Swift does not see. 15 bits are the largest window,
// and 16 more ask for gzip's framing in place of zlib's.
static inline int sluice_gzip_begin(z_stream *stream, int level) {
    return deflateInit2(stream, level, Z_DEFLATED, 15 + 16, 8, Z_DEFAULT_STRATEGY);
}
