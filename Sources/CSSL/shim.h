#pragma once

// What Swift cannot call of OpenSSL itself: macros, and lists that are macros.

#include <openssl/err.h>
#include <openssl/ssl.h>
#include <openssl/x509v3.h>
#include <string.h>
#include <time.h>

// An index under which contexts keep an object; `release` is called with it once the context is gone. Negative if there is none.
static inline int sluice_tls_new_index(CRYPTO_EX_free *release) {
    return SSL_CTX_get_ex_new_index(0, NULL, NULL, NULL, release);
}

// The context that a chain of certificates is being verified for.
static inline SSL_CTX *sluice_tls_context(X509_STORE_CTX *verification) {
    SSL *ssl = X509_STORE_CTX_get_ex_data(verification, SSL_get_ex_data_X509_STORE_CTX_idx());
    return ssl ? SSL_get_SSL_CTX(ssl) : NULL;
}

// How many certificates there are in the chain that was verified; 0 where none was.
static inline int sluice_tls_chain_count(const SSL *ssl) {
    STACK_OF(X509) *chain = SSL_get0_verified_chain(ssl);
    return chain ? sk_X509_num(chain) : 0;
}

static inline X509 *sluice_tls_chain_certificate(const SSL *ssl, int position) {
    return sk_X509_value(SSL_get0_verified_chain(ssl), position);
}

// Writes a name by RFC 4514, control characters escaped, as far as there is room, with a zero behind it.
static inline void sluice_tls_name(const X509_NAME *name, char *text, int room) {
    text[0] = 0;
    BIO *bio = BIO_new(BIO_s_mem());
    if (!bio) return;
    if (X509_NAME_print_ex(bio, name, 0, XN_FLAG_RFC2253 & ~ASN1_STRFLGS_ESC_MSB) >= 0) {
        int count = BIO_read(bio, text, room - 1);
        text[count > 0 ? count : 0] = 0;
    }
    BIO_free(bio);
}

// Hands out the hosts (kind 0) and addresses (kind 1) that a certificate is for, as they stand in it.
static inline void sluice_tls_alternative_names(
    const X509 *certificate, void *context, void (*take)(void *context, int kind, const unsigned char *bytes, int count)) {
    GENERAL_NAMES *names = (GENERAL_NAMES *)X509_get_ext_d2i(certificate, NID_subject_alt_name, NULL, NULL);
    if (!names) return;
    for (int index = 0; index < sk_GENERAL_NAME_num(names); index++) {
        const GENERAL_NAME *name = sk_GENERAL_NAME_value(names, index);
        if (name->type != GEN_DNS && name->type != GEN_IPADD) continue;
        const ASN1_STRING *text = name->type == GEN_DNS ? name->d.dNSName : name->d.iPAddress;
        take(context, name->type == GEN_IPADD, ASN1_STRING_get0_data(text), ASN1_STRING_length(text));
    }
    GENERAL_NAMES_free(names);
}

// Seconds since 1970; 1 if the time can be read.
static inline int sluice_tls_seconds(const ASN1_TIME *time, long long *seconds) {
    struct tm parts;
    memset(&parts, 0, sizeof parts);
    if (!ASN1_TIME_to_tm(time, &parts)) return 0;
    *seconds = (long long)timegm(&parts);
    return 1;
}

// Writes the 32 bytes of the SHA-256 of a certificate's SubjectPublicKeyInfo; 1 if it could.
static inline int sluice_tls_key_digest(const X509 *certificate, unsigned char *digest) {
    unsigned char *bytes = NULL;
    int count = i2d_X509_PUBKEY(X509_get_X509_PUBKEY(certificate), &bytes);
    if (count <= 0) return 0;
    int done = EVP_Digest(bytes, (size_t)count, digest, NULL, EVP_sha256(), NULL);
    OPENSSL_free(bytes);
    return done;
}

// OpenSSL's words for what its info callback is told of, where that ends the connection; NULL for anything else.
static inline const char *sluice_tls_end(int where, int value) {
    if (where == SSL_CB_READ_ALERT && value >> 8 == SSL3_AL_FATAL)
        return ERR_reason_error_string(ERR_PACK(ERR_LIB_SSL, 0, SSL_AD_REASON_OFFSET + (value & 0xff)));
    if (where == SSL_CB_CONNECT_EXIT && value <= 0) return ERR_reason_error_string(ERR_peek_error());
    return NULL;
}

// Whether HTTP/2 was agreed on in the handshake (RFC 7301).
static inline int sluice_tls_speaks_http2(const SSL *ssl) {
    const unsigned char *name = NULL;
    unsigned int count = 0;
    SSL_get0_alpn_selected(ssl, &name, &count);
    return count == 2 && memcmp(name, "h2", 2) == 0;
}

static inline void sluice_tls_forbid_renegotiation(SSL_CTX *context) {
    SSL_CTX_set_options(context, SSL_OP_NO_RENEGOTIATION);
}
