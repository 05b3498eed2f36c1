#pragma once

#include <fcntl.h>
#include <linux/sockios.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/eventfd.h>
#include <sys/ioctl.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <unistd.h>

// Types of sockets. Swift finds an enumerator only in the module that the compiler loads first of those that include its header.
static const int sluice_stream_socket = SOCK_STREAM;
static const int sluice_socket_flags = SOCK_NONBLOCK | SOCK_CLOEXEC;

// glibc declares the next two functions only with _GNU_SOURCE, which a module map cannot define.

// Renames a file unless the new name exists: renameat2(2) with RENAME_NOREPLACE.
static inline int sluice_rename_exclusively(const char *from, const char *to) {
    return (int)syscall(SYS_renameat2, AT_FDCWD, from, AT_FDCWD, to, 1u);
}

// Starts write-back without waiting for it: sync_file_range(2) with SYNC_FILE_RANGE_WRITE.
static inline int sluice_begin_writeback(int descriptor, long long offset, long long count) {
#if defined(__LP64__) && defined(SYS_sync_file_range)
    return (int)syscall(SYS_sync_file_range, descriptor, offset, count, 2u);
#else
    return 0;
#endif
}

// The number of written bytes that the peer of a socket has not acknowledged; 0 if it is unknown.
static inline int sluice_unacknowledged(int socket) {
    int count = 0;
    return ioctl(socket, SIOCOUTQ, &count) == 0 ? count : 0;
}

// The number of bytes that the peer of a TCP socket has acknowledged, the milliseconds since its last acknowledgement, and the number of times
// that the oldest bytes were sent again without one. All are 0 if they are unknown.
struct sluice_acknowledgements {
    unsigned long long bytes;
    unsigned milliseconds;
    unsigned retransmissions;
};

static inline struct sluice_acknowledgements sluice_acknowledgements(int socket) {
    struct sluice_acknowledgements result = {0, 0, 0};
    // glibc declares only the first members of the kernel's structure. tcpi_bytes_acked is at offset 120.
    union { struct tcp_info info; char bytes[128]; } buffer;
    socklen_t size = sizeof buffer;
    if (getsockopt(socket, IPPROTO_TCP, TCP_INFO, &buffer, &size) == 0 && size >= 128) {
        memcpy(&result.bytes, buffer.bytes + 120, sizeof result.bytes);
        result.milliseconds = buffer.info.tcpi_last_ack_recv;
        result.retransmissions = buffer.info.tcpi_retransmits;
    }
    return result;
}

// Sets the name of the calling thread for debuggers, cut to 15 bytes.
static inline void sluice_set_thread_name(const char *name) {
    prctl(PR_SET_NAME, name, 0, 0, 0);
}
