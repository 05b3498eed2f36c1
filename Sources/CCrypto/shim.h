#pragma once

#include <openssl/evp.h>

// Writes a 32-byte SHA-256 digest (FIPS 180-4). Returns 1 on success.
static inline int sluice_sha256(const void *bytes, size_t count, unsigned char *digest) {
    return EVP_Digest(bytes, count, digest, NULL, EVP_sha256(), NULL);
}
