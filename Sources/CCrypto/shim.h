#pragma once

#include <openssl/evp.h>

// Writes the 32 bytes of SHA-256 (FIPS 180-4); 1 if it could.
static inline int sluice_sha256(const void *bytes, size_t count, unsigned char *digest) {
    return EVP_Digest(bytes, count, digest, NULL, EVP_sha256(), NULL);
}
