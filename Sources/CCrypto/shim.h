#pragma once

#include <openssl/crypto.h>
#include <openssl/evp.h>

// Keeps OpenSSL from destroying its state when the process exits, which other threads may still use then. Called before each first use.
static inline void sluice_keep_crypto(void) { OPENSSL_init_crypto(OPENSSL_INIT_NO_ATEXIT, NULL); }

// Writes a 32-byte SHA-256 digest (FIPS 180-4). Returns 1 on success.
static inline int sluice_sha256(const void *bytes, size_t count, unsigned char *digest) {
    sluice_keep_crypto();
    return EVP_Digest(bytes, count, digest, NULL, EVP_sha256(), NULL);
}
