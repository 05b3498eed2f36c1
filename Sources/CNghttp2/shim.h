#pragma once

#if !__has_include(<nghttp2/nghttp2.h>)
#error "<nghttp2/nghttp2.h> is missing. Install libnghttp2-dev (Debian, Ubuntu) or libnghttp2-devel (Fedora)."
#endif

#include "../CLinux/library.h"

#include <nghttp2/nghttp2.h>

#define SLUICE_NGHTTP2(F) \
    F(nghttp2_http2_strerror) F(nghttp2_option_del) F(nghttp2_option_new) F(nghttp2_option_set_no_auto_window_update) \
    F(nghttp2_option_set_no_closed_streams) F(nghttp2_option_set_peer_max_concurrent_streams) \
    F(nghttp2_option_set_user_recv_extension_type) F(nghttp2_session_callbacks_del) F(nghttp2_session_callbacks_new) \
    F(nghttp2_session_callbacks_set_before_frame_send_callback) F(nghttp2_session_callbacks_set_error_callback2) \
    F(nghttp2_session_callbacks_set_on_begin_frame_callback) F(nghttp2_session_callbacks_set_on_data_chunk_recv_callback) \
    F(nghttp2_session_callbacks_set_on_frame_not_send_callback) F(nghttp2_session_callbacks_set_on_frame_recv_callback) \
    F(nghttp2_session_callbacks_set_on_frame_send_callback) F(nghttp2_session_callbacks_set_on_header_callback) \
    F(nghttp2_session_callbacks_set_on_invalid_frame_recv_callback) F(nghttp2_session_callbacks_set_on_invalid_header_callback) \
    F(nghttp2_session_callbacks_set_on_stream_close_callback) F(nghttp2_session_callbacks_set_unpack_extension_callback) \
    F(nghttp2_session_check_request_allowed) F(nghttp2_session_client_new2) F(nghttp2_session_consume_connection) F(nghttp2_session_del) \
    F(nghttp2_session_get_next_stream_id) F(nghttp2_session_get_remote_settings) \
    F(nghttp2_session_get_stream_effective_recv_data_length) F(nghttp2_session_mem_recv) F(nghttp2_session_mem_send) \
    F(nghttp2_session_resume_data) F(nghttp2_session_set_local_window_size) F(nghttp2_session_set_user_data) \
    F(nghttp2_session_terminate_session) F(nghttp2_strerror) F(nghttp2_submit_ping) F(nghttp2_submit_request) \
    F(nghttp2_submit_rst_stream) F(nghttp2_submit_settings) F(nghttp2_submit_window_update)
SLUICE_LIBRARY(sluice_nghttp2, "libnghttp2.so.14", SLUICE_NGHTTP2, (void)0)
