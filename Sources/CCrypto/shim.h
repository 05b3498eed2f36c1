#pragma once

#if !__has_include(<openssl/crypto.h>)
#error "<openssl/crypto.h> is missing. Install libssl-dev (Debian, Ubuntu) or openssl-devel (Fedora)."
#endif

#include <openssl/opensslv.h>

#if OPENSSL_VERSION_NUMBER < 0x30000000L
#error "Sluice needs OpenSSL 3.0 or later."
#endif

#include "../CLinux/library.h"

#include <openssl/crypto.h>
#include <openssl/evp.h>

#define SLUICE_CRYPTO(F) \
    F(EVP_CIPHER_CTX_ctrl) F(EVP_CIPHER_CTX_free) F(EVP_CIPHER_CTX_new) F(EVP_CipherFinal_ex) F(EVP_CipherInit_ex) F(EVP_CipherUpdate) \
    F(EVP_Digest) F(EVP_DigestFinal_ex) F(EVP_DigestInit_ex) F(EVP_DigestUpdate) F(EVP_MD_CTX_copy_ex) F(EVP_MD_CTX_free) \
    F(EVP_MD_CTX_new) F(EVP_aes_256_gcm) F(EVP_sha1) F(EVP_sha256) F(OPENSSL_init_crypto)
// OpenSSL registers no exit handler, which would destroy its state while other threads still use it.
SLUICE_LIBRARY(
    sluice_crypto, "libcrypto.so." SLUICE_TEXT(OPENSSL_SHLIB_VERSION), SLUICE_CRYPTO,
    loaded->OPENSSL_init_crypto(OPENSSL_INIT_NO_ATEXIT, NULL))
