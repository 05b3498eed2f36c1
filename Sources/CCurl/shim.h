#pragma once

// libcurl sets and reads options through variadic functions, which Swift cannot call. Each shim below is one
// such call with a fixed argument type; the option's own documentation says which type it takes.

#include <curl/curl.h>

#ifdef __linux__
// The engine waits with these, and Swift's Glibc module leaves them out.
#include <sys/epoll.h>
#include <sys/eventfd.h>
#include <sys/prctl.h>

// Names the calling thread, as debuggers and profilers show it.
static inline void sluice_name_thread(const char *name) {
    prctl(PR_SET_NAME, name);
}
#endif

static inline CURLcode sluice_easy_set_long(CURL *handle, CURLoption option, long value) {
    return curl_easy_setopt(handle, option, value);
}

static inline CURLcode sluice_easy_set_offset(CURL *handle, CURLoption option, curl_off_t value) {
    return curl_easy_setopt(handle, option, value);
}

static inline CURLcode sluice_easy_set_string(CURL *handle, CURLoption option, const char *value) {
    return curl_easy_setopt(handle, option, value);
}

static inline CURLcode sluice_easy_set_pointer(CURL *handle, CURLoption option, void *value) {
    return curl_easy_setopt(handle, option, value);
}

// The bytes are copied; none at all unset the option.
static inline CURLcode sluice_easy_set_blob(CURL *handle, CURLoption option, const void *bytes, size_t count) {
    struct curl_blob blob = {(void *)bytes, count, CURL_BLOB_COPY};
    return curl_easy_setopt(handle, option, bytes ? &blob : NULL);
}

// How many seconds authorities that have been read are kept; older libraries keep none.
static inline CURLcode sluice_easy_keep_authorities(CURL *handle, long seconds) {
#if LIBCURL_VERSION_NUM >= 0x075700
    return curl_easy_setopt(handle, CURLOPT_CA_CACHE_TIMEOUT, seconds);
#else
    return CURLE_OK;
#endif
}

typedef size_t (*sluice_data_callback)(char *bytes, size_t size, size_t count, void *context);

static inline CURLcode sluice_easy_set_data_callback(CURL *handle, CURLoption option, sluice_data_callback callback) {
    return curl_easy_setopt(handle, option, callback);
}

typedef int (*sluice_seek_callback)(void *context, curl_off_t offset, int origin);

static inline CURLcode sluice_easy_set_seek_callback(CURL *handle, sluice_seek_callback callback) {
    return curl_easy_setopt(handle, CURLOPT_SEEKFUNCTION, callback);
}

typedef int (*sluice_request_callback)(void *context, char *remote, char *local, int remote_port, int local_port);

static inline CURLcode sluice_easy_set_request_callback(CURL *handle, sluice_request_callback callback) {
    return curl_easy_setopt(handle, CURLOPT_PREREQFUNCTION, callback);
}

typedef int (*sluice_debug_callback)(CURL *handle, curl_infotype type, char *bytes, size_t count, void *context);

static inline CURLcode sluice_easy_set_debug_callback(CURL *handle, sluice_debug_callback callback) {
    return curl_easy_setopt(handle, CURLOPT_DEBUGFUNCTION, callback);
}

typedef curl_socket_t (*sluice_open_socket_callback)(void *context, curlsocktype purpose, struct curl_sockaddr *address);

static inline CURLcode sluice_easy_set_open_socket_callback(CURL *handle, sluice_open_socket_callback callback) {
    return curl_easy_setopt(handle, CURLOPT_OPENSOCKETFUNCTION, callback);
}

typedef int (*sluice_close_socket_callback)(void *context, curl_socket_t socket);

static inline CURLcode sluice_easy_set_close_socket_callback(CURL *handle, sluice_close_socket_callback callback) {
    return curl_easy_setopt(handle, CURLOPT_CLOSESOCKETFUNCTION, callback);
}

typedef CURLcode (*sluice_tls_callback)(CURL *handle, void *tls_context, void *context);

static inline CURLcode sluice_easy_set_tls_callback(CURL *handle, sluice_tls_callback callback) {
    return curl_easy_setopt(handle, CURLOPT_SSL_CTX_FUNCTION, callback);
}

// The TLS library's own object of the connection that a transfer has, if that library is OpenSSL; NULL otherwise.
static inline void *sluice_easy_openssl(CURL *handle) {
    struct curl_tlssessioninfo *info = NULL;
    if (curl_easy_getinfo(handle, CURLINFO_TLS_SSL_PTR, &info) != CURLE_OK || !info) return NULL;
    return info->backend == CURLSSLBACKEND_OPENSSL ? info->internals : NULL;
}

// The library that libcurl does TLS with, and its version: “OpenSSL/3.0.19”; NULL where it has none.
static inline const char *sluice_tls_library(void) {
    return curl_version_info(CURLVERSION_NOW)->ssl_version;
}

// CURLOPT_PROTOCOLS is deprecated since 7.85 in favour of a string that older libraries do not know; it still works.
static inline CURLcode sluice_easy_allow_http_only(CURL *handle) {
#pragma GCC diagnostic push
#pragma GCC diagnostic ignored "-Wdeprecated-declarations"
    return curl_easy_setopt(handle, CURLOPT_PROTOCOLS, (long)(CURLPROTO_HTTP | CURLPROTO_HTTPS));
#pragma GCC diagnostic pop
}

static inline CURLcode sluice_easy_get_long(CURL *handle, CURLINFO info, long *value) {
    return curl_easy_getinfo(handle, info, value);
}

static inline CURLcode sluice_easy_get_offset(CURL *handle, CURLINFO info, curl_off_t *value) {
    return curl_easy_getinfo(handle, info, value);
}

static inline CURLcode sluice_easy_get_string(CURL *handle, CURLINFO info, const char **value) {
    return curl_easy_getinfo(handle, info, value);
}

static inline CURLcode sluice_easy_get_pointer(CURL *handle, CURLINFO info, void **value) {
    return curl_easy_getinfo(handle, info, value);
}

// The list is the caller's, to be freed with curl_slist_free_all.
static inline CURLcode sluice_easy_get_list(CURL *handle, CURLINFO info, struct curl_slist **value) {
    return curl_easy_getinfo(handle, info, value);
}

typedef int (*sluice_socket_callback)(CURL *handle, curl_socket_t socket, int what, void *context, void *socket_context);

static inline CURLMcode sluice_multi_set_socket_callback(
    CURLM *multi, sluice_socket_callback callback, void *context) {
    CURLMcode code = curl_multi_setopt(multi, CURLMOPT_SOCKETFUNCTION, callback);
    return code != CURLM_OK ? code : curl_multi_setopt(multi, CURLMOPT_SOCKETDATA, context);
}

typedef int (*sluice_timer_callback)(CURLM *multi, long milliseconds, void *context);

static inline CURLMcode sluice_multi_set_timer_callback(CURLM *multi, sluice_timer_callback callback, void *context) {
    CURLMcode code = curl_multi_setopt(multi, CURLMOPT_TIMERFUNCTION, callback);
    return code != CURLM_OK ? code : curl_multi_setopt(multi, CURLMOPT_TIMERDATA, context);
}

static inline CURLMcode sluice_multi_set_long(CURLM *multi, CURLMoption option, long value) {
    return curl_multi_setopt(multi, option, value);
}

static inline CURLSHcode sluice_share_data(CURLSH *share, curl_lock_data data) {
    return curl_share_setopt(share, CURLSHOPT_SHARE, data);
}

// Whether the library knows which domains are public suffixes; its features may be others than those of the headers.
static inline int sluice_knows_public_suffixes(void) {
    const curl_version_info_data *info = curl_version_info(CURLVERSION_NOW);
    return info != NULL && (info->features & CURL_VERSION_PSL) != 0;
}

// The result of a finished transfer; `data` of CURLMsg is a union, which Swift sees only as opaque storage.
static inline CURLcode sluice_message_result(const CURLMsg *message) {
    return message->data.result;
}

// Where libcurl was built to look for the system's authorities; NULL where it has no such place, or is too old to tell.
static inline const char *sluice_authority_file(void) {
#if LIBCURL_VERSION_NUM >= 0x075400
    return curl_version_info(CURLVERSION_NOW)->cainfo;
#else
    return NULL;
#endif
}

static inline const char *sluice_authority_directory(void) {
#if LIBCURL_VERSION_NUM >= 0x075400
    return curl_version_info(CURLVERSION_NOW)->capath;
#else
    return NULL;
#endif
}

static const size_t sluice_write_pause = CURL_WRITEFUNC_PAUSE;
static const size_t sluice_read_pause = CURL_READFUNC_PAUSE;
static const size_t sluice_read_abort = CURL_READFUNC_ABORT;

static const long sluice_auth_basic = (long)CURLAUTH_BASIC;
static const long sluice_auth_digest = (long)CURLAUTH_DIGEST;
