#pragma once

#if !__has_include(<openssl/ssl.h>)
#error "<openssl/ssl.h> is missing. Install libssl-dev (Debian, Ubuntu) or openssl-devel (Fedora)."
#endif

#include <openssl/opensslv.h>

#if OPENSSL_VERSION_NUMBER < 0x30000000L
#error "Sluice needs OpenSSL 3.0 or later."
#endif

#include "../CLinux/library.h"

#include <errno.h>
#include <openssl/err.h>
#include <openssl/pem.h>
#include <openssl/pkcs12.h>
#include <openssl/ssl.h>
#include <openssl/x509v3.h>
#include <stdlib.h>
#include <string.h>
#include <sys/auxv.h>
#include <sys/socket.h>
#include <time.h>

#define SLUICE_OPENSSL(F) \
    F(ASN1_STRING_get0_data) F(ASN1_STRING_length) F(ASN1_TIME_to_tm) F(BIO_clear_flags) F(BIO_free) F(BIO_get_data) \
    F(BIO_get_new_index) F(BIO_meth_free) F(BIO_meth_new) F(BIO_meth_set_ctrl) F(BIO_meth_set_read) F(BIO_meth_set_write) F(BIO_new) \
    F(BIO_new_mem_buf) F(BIO_read) F(BIO_s_mem) F(BIO_set_data) F(BIO_set_flags) F(BIO_set_init) F(CRYPTO_free) \
    F(CRYPTO_get_ex_new_index) F(ERR_clear_error) F(ERR_error_string_n) F(ERR_peek_error) F(ERR_peek_last_error) F(ERR_pop_to_mark) \
    F(ERR_reason_error_string) F(ERR_set_mark) F(EVP_Digest) F(EVP_PKEY_free) F(EVP_md5) F(EVP_sha256) F(EVP_sha512_256) \
    F(GENERAL_NAMES_free) F(OPENSSL_init_crypto) F(OPENSSL_sk_num) F(OPENSSL_sk_pop_free) F(OPENSSL_sk_value) F(PEM_read_bio_PrivateKey) \
    F(PEM_read_bio_X509_AUX) F(PKCS12_free) F(PKCS12_parse) F(SSL_CIPHER_get_kx_nid) F(SSL_CIPHER_get_name) F(SSL_CTX_check_private_key) \
    F(SSL_CTX_ctrl) F(SSL_CTX_free) F(SSL_CTX_get0_param) F(SSL_CTX_get_ciphers) F(SSL_CTX_new) F(SSL_CTX_sess_set_new_cb) \
    F(SSL_CTX_set_alpn_protos) F(SSL_CTX_set_cert_store) F(SSL_CTX_set_cert_verify_callback) F(SSL_CTX_set_cipher_list) \
    F(SSL_CTX_set_options) F(SSL_CTX_set_post_handshake_auth) F(SSL_CTX_set_verify) F(SSL_CTX_use_PrivateKey) F(SSL_CTX_use_certificate) F(SSL_SESSION_dup) \
    F(SSL_SESSION_free) F(SSL_SESSION_get_protocol_version) F(SSL_SESSION_get_ticket_lifetime_hint) F(SSL_SESSION_get_time) \
    F(SSL_SESSION_get_timeout) F(SSL_SESSION_is_resumable) F(SSL_ctrl) F(SSL_do_handshake) F(SSL_free) F(SSL_get0_alpn_selected) \
    F(SSL_get0_param) F(SSL_get0_verified_chain) F(SSL_get1_peer_certificate) F(SSL_get_client_CA_list) F(SSL_get_error) F(SSL_get_ex_data) \
    F(SSL_get_ex_data_X509_STORE_CTX_idx) F(SSL_get_session) F(SSL_has_pending) F(SSL_new) F(SSL_pending) F(SSL_read) \
    F(SSL_session_reused) F(SSL_set_bio) F(SSL_set_connect_state) F(SSL_set_ex_data) F(SSL_set_session) F(SSL_shutdown) F(SSL_version) \
    F(SSL_write) F(TLS_client_method) F(X509_LOOKUP_get_method_data) F(X509_LOOKUP_get_store) F(X509_LOOKUP_meth_new) \
    F(X509_LOOKUP_meth_set_free) F(X509_LOOKUP_meth_set_get_by_subject) F(X509_LOOKUP_set_method_data) F(X509_NAME_cmp) \
    F(X509_NAME_get0_der) F(X509_NAME_print_ex) F(X509_OBJECT_get0_X509) F(X509_OBJECT_retrieve_by_subject) F(X509_OBJECT_set1_X509) \
    F(X509_STORE_CTX_get_current_cert) F(X509_STORE_CTX_get_error) F(X509_STORE_CTX_get_error_depth) F(X509_STORE_CTX_get_ex_data) \
    F(X509_STORE_CTX_set_error) F(X509_STORE_add_cert) F(X509_STORE_add_lookup) F(X509_STORE_free) F(X509_STORE_get0_objects) \
    F(X509_STORE_lock) F(X509_STORE_new) F(X509_STORE_unlock) F(X509_STORE_up_ref) F(X509_VERIFY_PARAM_set1_host) \
    F(X509_VERIFY_PARAM_set1_ip) F(X509_VERIFY_PARAM_set_flags) F(X509_VERIFY_PARAM_set_hostflags) F(X509_check_ip) F(X509_free) \
    F(X509_get0_notAfter) F(X509_get0_notBefore) F(X509_get_X509_PUBKEY) F(X509_get_default_cert_dir) F(X509_get_default_cert_dir_env) \
    F(X509_get_default_cert_file) F(X509_get_default_cert_file_env) F(X509_get_ext_d2i) F(X509_get_issuer_name) F(X509_get_subject_name) \
    F(X509_up_ref) F(X509_verify_cert_error_string) F(d2i_PKCS12) F(d2i_X509_AUX) F(i2d_X509_PUBKEY)
// The functions of libcrypto are found as well, because libssl depends on it. OpenSSL registers no exit handler, which would destroy what
// threads still use.
SLUICE_LIBRARY(
    sluice_openssl, "libssl.so." SLUICE_TEXT(OPENSSL_SHLIB_VERSION), SLUICE_OPENSSL,
    loaded->OPENSSL_init_crypto(OPENSSL_INIT_NO_ATEXIT, NULL))

// Lets the functions and macros below call what is loaded.
#define ASN1_STRING_get0_data sluice_openssl()->ASN1_STRING_get0_data
#define ASN1_STRING_length sluice_openssl()->ASN1_STRING_length
#define ASN1_TIME_to_tm sluice_openssl()->ASN1_TIME_to_tm
#define BIO_clear_flags sluice_openssl()->BIO_clear_flags
#define BIO_free sluice_openssl()->BIO_free
#define BIO_get_data sluice_openssl()->BIO_get_data
#define BIO_get_new_index sluice_openssl()->BIO_get_new_index
#define BIO_meth_free sluice_openssl()->BIO_meth_free
#define BIO_meth_new sluice_openssl()->BIO_meth_new
#define BIO_meth_set_ctrl sluice_openssl()->BIO_meth_set_ctrl
#define BIO_meth_set_read sluice_openssl()->BIO_meth_set_read
#define BIO_meth_set_write sluice_openssl()->BIO_meth_set_write
#define BIO_new sluice_openssl()->BIO_new
#define BIO_read sluice_openssl()->BIO_read
#define BIO_s_mem sluice_openssl()->BIO_s_mem
#define BIO_set_data sluice_openssl()->BIO_set_data
#define BIO_set_flags sluice_openssl()->BIO_set_flags
#define BIO_set_init sluice_openssl()->BIO_set_init
#define CRYPTO_free sluice_openssl()->CRYPTO_free
#define CRYPTO_get_ex_new_index sluice_openssl()->CRYPTO_get_ex_new_index
#define EVP_Digest sluice_openssl()->EVP_Digest
#define EVP_sha256 sluice_openssl()->EVP_sha256
#define GENERAL_NAMES_free sluice_openssl()->GENERAL_NAMES_free
#define OPENSSL_sk_num sluice_openssl()->OPENSSL_sk_num
#define OPENSSL_sk_pop_free sluice_openssl()->OPENSSL_sk_pop_free
#define OPENSSL_sk_value sluice_openssl()->OPENSSL_sk_value
#define SSL_CIPHER_get_kx_nid sluice_openssl()->SSL_CIPHER_get_kx_nid
#define SSL_CIPHER_get_name sluice_openssl()->SSL_CIPHER_get_name
#define SSL_CTX_ctrl sluice_openssl()->SSL_CTX_ctrl
#define SSL_CTX_get_ciphers sluice_openssl()->SSL_CTX_get_ciphers
#define SSL_CTX_set_cipher_list sluice_openssl()->SSL_CTX_set_cipher_list
#define SSL_CTX_set_options sluice_openssl()->SSL_CTX_set_options
#define SSL_ctrl sluice_openssl()->SSL_ctrl
#define SSL_get0_verified_chain sluice_openssl()->SSL_get0_verified_chain
#define SSL_get_ex_data_X509_STORE_CTX_idx sluice_openssl()->SSL_get_ex_data_X509_STORE_CTX_idx
#define SSL_set_bio sluice_openssl()->SSL_set_bio
#define X509_LOOKUP_get_store sluice_openssl()->X509_LOOKUP_get_store
#define X509_NAME_print_ex sluice_openssl()->X509_NAME_print_ex
#define X509_OBJECT_get0_X509 sluice_openssl()->X509_OBJECT_get0_X509
#define X509_OBJECT_retrieve_by_subject sluice_openssl()->X509_OBJECT_retrieve_by_subject
#define X509_OBJECT_set1_X509 sluice_openssl()->X509_OBJECT_set1_X509
#define X509_STORE_CTX_get_ex_data sluice_openssl()->X509_STORE_CTX_get_ex_data
#define X509_STORE_get0_objects sluice_openssl()->X509_STORE_get0_objects
#define X509_STORE_lock sluice_openssl()->X509_STORE_lock
#define X509_STORE_unlock sluice_openssl()->X509_STORE_unlock
#define X509_free sluice_openssl()->X509_free
#define X509_get_X509_PUBKEY sluice_openssl()->X509_get_X509_PUBKEY
#define X509_get_ext_d2i sluice_openssl()->X509_get_ext_d2i
#define i2d_X509_PUBKEY sluice_openssl()->i2d_X509_PUBKEY

// Functions around OpenSSL's macros and macro-based lists, which Swift cannot call.

// Returns the number of certificates in the verified chain; 0 without one.
static inline int sluice_tls_chain_count(const SSL *ssl) {
    STACK_OF(X509) *chain = SSL_get0_verified_chain(ssl);
    return chain ? sk_X509_num(chain) : 0;
}

static inline X509 *sluice_tls_chain_certificate(const SSL *ssl, int position) {
    return sk_X509_value(SSL_get0_verified_chain(ssl), position);
}

// Writes a name in RFC 4514 form with control characters escaped, cut to the buffer's size and terminated by zero.
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

// Passes on the DNS names (kind 0) and IP addresses (kind 1) of a certificate, unchanged.
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

// Converts a time to seconds since 1970. Returns 1 on success.
static inline int sluice_tls_seconds(const ASN1_TIME *time, long long *seconds) {
    struct tm parts;
    memset(&parts, 0, sizeof parts);
    if (!ASN1_TIME_to_tm(time, &parts)) return 0;
    *seconds = (long long)timegm(&parts);
    return 1;
}

// Writes the 32-byte SHA-256 of a certificate's SubjectPublicKeyInfo. Returns 1 on success.
static inline int sluice_tls_key_digest(const X509 *certificate, unsigned char *digest) {
    unsigned char *bytes = NULL;
    int count = i2d_X509_PUBKEY(X509_get_X509_PUBKEY(certificate), &bytes);
    if (count <= 0) return 0;
    int done = EVP_Digest(bytes, (size_t)count, digest, NULL, EVP_sha256(), NULL);
    OPENSSL_free(bytes);
    return done;
}

// A socket that OpenSSL reads and writes through a BIO, with the state of the current call.
struct sluice_tls_socket {
    int descriptor;
    // The errno of the last recv or send; 0 on success.
    int error;
    // Nonzero once recv has returned 0.
    int at_end;
    // The number of bytes that this call may still receive.
    long allowance;
    // The stream that takes the place of a socket for TLS within TLS, and its functions; NULL for a socket. They return the number of
    // bytes, 0 at the end of the stream, or one of the values below, SLUICE_TLS_FAILED with an errno.
    void *outer;
    int (*read)(void *outer, void *bytes, int count, int *error);
    int (*write)(void *outer, const void *bytes, int count, int *error);
};

#define SLUICE_TLS_WANTS_READ (-1)
#define SLUICE_TLS_WANTS_WRITE (-2)
#define SLUICE_TLS_FAILED (-3)

static inline int sluice_tls_socket_read(BIO *bio, char *bytes, int count) {
    struct sluice_tls_socket *peer = (struct sluice_tls_socket *)BIO_get_data(bio);
    BIO_clear_retry_flags(bio);
    if (count <= 0) return 0;
    if (peer->allowance <= 0) {
        peer->error = EMSGSIZE;
        return -1;
    }
    ssize_t received;
    do received = recv(peer->descriptor, bytes, (size_t)count, MSG_DONTWAIT);
    while (received < 0 && errno == EINTR);
    if (received < 0) {
        if (errno == EAGAIN || errno == EWOULDBLOCK)
            BIO_set_retry_read(bio);
        else
            peer->error = errno;
        return -1;
    }
    peer->at_end = received == 0;
    peer->allowance -= received;
    return (int)received;
}

static inline int sluice_tls_socket_write(BIO *bio, const char *bytes, int count) {
    struct sluice_tls_socket *peer = (struct sluice_tls_socket *)BIO_get_data(bio);
    BIO_clear_retry_flags(bio);
    if (count <= 0) return 0;
    ssize_t sent;
    do sent = send(peer->descriptor, bytes, (size_t)count, MSG_DONTWAIT | MSG_NOSIGNAL);
    while (sent < 0 && errno == EINTR);
    if (sent < 0) {
        if (errno == EAGAIN || errno == EWOULDBLOCK)
            BIO_set_retry_write(bio);
        else
            peer->error = errno;
        return -1;
    }
    return (int)sent;
}

static inline long sluice_tls_socket_control(BIO *bio, int command, long number, void *pointer) {
    (void)number;
    (void)pointer;
    switch (command) {
    case BIO_CTRL_FLUSH:
    case BIO_CTRL_DUP: return 1;
    case BIO_CTRL_EOF: return ((struct sluice_tls_socket *)BIO_get_data(bio))->at_end;
    default: return 0;
    }
}

// Returns the BIO method of sockets, which lives as long as the process; NULL if memory is exhausted.
static inline BIO_METHOD *sluice_tls_socket_method(void) {
    BIO_METHOD *method = BIO_meth_new(BIO_get_new_index() | BIO_TYPE_SOURCE_SINK, "sluice socket");
    if (!method) return NULL;
    if (BIO_meth_set_read(method, sluice_tls_socket_read) && BIO_meth_set_write(method, sluice_tls_socket_write) &&
        BIO_meth_set_ctrl(method, sluice_tls_socket_control))
        return method;
    BIO_meth_free(method);
    return NULL;
}

// Sets the event that a BIO's caller waits for, or the error of the outer stream.
static inline int sluice_tls_nested_failure(BIO *bio, struct sluice_tls_socket *peer, int result, int error) {
    if (result == SLUICE_TLS_WANTS_READ)
        BIO_set_retry_read(bio);
    else if (result == SLUICE_TLS_WANTS_WRITE)
        BIO_set_retry_write(bio);
    else
        peer->error = error;
    return -1;
}

static inline int sluice_tls_nested_read(BIO *bio, char *bytes, int count) {
    struct sluice_tls_socket *peer = (struct sluice_tls_socket *)BIO_get_data(bio);
    BIO_clear_retry_flags(bio);
    if (count <= 0) return 0;
    if (peer->allowance <= 0) {
        peer->error = EMSGSIZE;
        return -1;
    }
    int error = 0;
    int received = peer->read(peer->outer, bytes, count, &error);
    if (received < 0) return sluice_tls_nested_failure(bio, peer, received, error);
    peer->at_end = received == 0;
    peer->allowance -= received;
    return received;
}

static inline int sluice_tls_nested_write(BIO *bio, const char *bytes, int count) {
    struct sluice_tls_socket *peer = (struct sluice_tls_socket *)BIO_get_data(bio);
    BIO_clear_retry_flags(bio);
    if (count <= 0) return 0;
    int error = 0;
    int sent = peer->write(peer->outer, bytes, count, &error);
    return sent > 0 ? sent : sluice_tls_nested_failure(bio, peer, sent, error);
}

// Returns the BIO method of TLS within TLS, which lives as long as the process; NULL if memory is exhausted.
static inline BIO_METHOD *sluice_tls_nested_method(void) {
    BIO_METHOD *method = BIO_meth_new(BIO_get_new_index() | BIO_TYPE_SOURCE_SINK, "sluice TLS");
    if (!method) return NULL;
    if (BIO_meth_set_read(method, sluice_tls_nested_read) && BIO_meth_set_write(method, sluice_tls_nested_write) &&
        BIO_meth_set_ctrl(method, sluice_tls_socket_control))
        return method;
    BIO_meth_free(method);
    return NULL;
}

// Attaches an SSL object to a socket, or to the outer stream, which must outlive it. Returns 1 on success.
static inline int sluice_tls_attach(SSL *ssl, const BIO_METHOD *method, struct sluice_tls_socket *peer) {
    BIO *bio = BIO_new(method);
    if (!bio) return 0;
    BIO_set_data(bio, peer);
    BIO_set_init(bio, 1);
    SSL_set_bio(ssl, bio, bio);
    return 1;
}

static inline int sluice_tls_cipher_count(const STACK_OF(SSL_CIPHER) *ciphers) { return sk_SSL_CIPHER_num(ciphers); }

static inline const SSL_CIPHER *sluice_tls_cipher(const STACK_OF(SSL_CIPHER) *ciphers, int position) {
    return sk_SSL_CIPHER_value(ciphers, position);
}

// Removes the cipher suites of TLS 1.2 with a Diffie-Hellman group of the server's choice from those that the system allows. The server
// could choose a group of 10,000 bits, which takes a client a second. Returns 1 on success.
static inline int sluice_tls_remove_dhe(SSL_CTX *context) {
    char names[8192];
    size_t length = 0;
    STACK_OF(SSL_CIPHER) *ciphers = SSL_CTX_get_ciphers(context);
    for (int i = 0; i < sluice_tls_cipher_count(ciphers); i++) {
        const SSL_CIPHER *cipher = sluice_tls_cipher(ciphers, i);
        int exchange = SSL_CIPHER_get_kx_nid(cipher);
        const char *name = SSL_CIPHER_get_name(cipher);
        size_t room = sizeof(names) - length;
        // The suites of TLS 1.3 are in a list of their own.
        if (exchange == NID_kx_any || exchange == NID_kx_dhe || exchange == NID_kx_dhe_psk) continue;
        if (strlen(name) + 2 > room) return 0;
        length += (size_t)snprintf(names + length, room, "%s%s", length > 0 ? ":" : "", name);
    }
    // A system may allow TLS 1.3 only.
    return length == 0 ? 1 : SSL_CTX_set_cipher_list(context, names);
}

// Applies the settings that all client contexts share. The minimum version is that of the configuration of the system if it is higher.
// Returns 1 on success.
static inline int sluice_tls_prepare(SSL_CTX *context, int version) {
    // 0 for no minimum.
    int isHigher = SSL_CTX_get_min_proto_version(context) >= version;
    if (!isHigher && !SSL_CTX_set_min_proto_version(context, version)) return 0;
    if (!sluice_tls_remove_dhe(context)) return 0;
    SSL_CTX_set_options(context, SSL_OP_NO_RENEGOTIATION | SSL_OP_NO_COMPRESSION);
    SSL_CTX_set_mode(
        context, SSL_MODE_ENABLE_PARTIAL_WRITE | SSL_MODE_ACCEPT_MOVING_WRITE_BUFFER | SSL_MODE_RELEASE_BUFFERS);
    SSL_CTX_set_read_ahead(context, 1);
    SSL_CTX_set_session_cache_mode(context, SSL_SESS_CACHE_CLIENT | SSL_SESS_CACHE_NO_INTERNAL);
    return 1;
}

// Returns a new index for a pointer stored in connections; negative on failure.
static inline int sluice_tls_new_connection_index(void) {
    return SSL_get_ex_new_index(0, NULL, NULL, NULL, NULL);
}

static inline SSL *sluice_tls_connection(X509_STORE_CTX *verification) {
    return (SSL *)X509_STORE_CTX_get_ex_data(verification, SSL_get_ex_data_X509_STORE_CTX_idx());
}

static inline int sluice_tls_add_chain_certificate(SSL_CTX *context, X509 *certificate) {
    return (int)SSL_CTX_add1_chain_cert(context, certificate);
}

static inline int sluice_tls_certificate_count(const STACK_OF(X509) *certificates) {
    return certificates ? sk_X509_num(certificates) : 0;
}

static inline X509 *sluice_tls_certificate(const STACK_OF(X509) *certificates, int position) {
    return sk_X509_value(certificates, position);
}

static inline void sluice_tls_free_certificates(STACK_OF(X509) *certificates) {
    sk_X509_pop_free(certificates, X509_free);
}

static inline int sluice_tls_server_name(SSL *ssl, const char *name) {
    return (int)SSL_set_tlsext_host_name(ssl, name);
}

// Returns nonzero if an OpenSSL error means that a PEM text contains no further object.
static inline int sluice_tls_is_end_of_pem(unsigned long error) {
    return ERR_GET_LIB(error) == ERR_LIB_PEM && ERR_GET_REASON(error) == PEM_R_NO_START_LINE;
}

// Finds a certificate by subject name in a lookup's store. Returns 1 if there is one.
static inline int sluice_tls_hand_out(X509_LOOKUP *lookup, const X509_NAME *name, X509_OBJECT *result) {
    X509_STORE *store = X509_LOOKUP_get_store(lookup);
    X509_STORE_lock(store);
    X509_OBJECT *found = X509_OBJECT_retrieve_by_subject(X509_STORE_get0_objects(store), X509_LU_X509, name);
    X509 *certificate = found ? X509_OBJECT_get0_X509(found) : NULL;
    int done = certificate && X509_OBJECT_set1_X509(result, certificate);
    X509_STORE_unlock(store);
    // The caller of a lookup takes its own reference; the store keeps its reference for life.
    if (done) X509_free(certificate);
    return done;
}

// Returns an environment variable; NULL if the process runs with elevated privileges.
static inline const char *sluice_tls_environment(const char *name) {
    return getauxval(AT_SECURE) ? NULL : getenv(name);
}
