#if os(Linux)
import CCurl
import Glibc

/// Tells epoll which sockets libcurl waits for.
///
/// libcurl drops its interest after every transfer and takes it up again with the next one on that connection. Only
/// the second half matters to the kernel, so a connection that goes idle stays registered for reading, which spares two
/// system calls a request; should it have something to say while idle, it is dropped then. Over HTTP/1 nothing that a server says
/// unasked can be an answer, but libcurl might take it for that of the next request; so such a connection is ended as well.
struct SocketInterests {
    private struct Interest {
        var wanted: UInt32 = 0
        var registered: UInt32 = 0
        /// The socket's own number if it was opened through us, 0 for others, such as libcurl's resolver's.
        var inode: UInt = 0
        /// Whether an exchange over HTTP/1 has ended on it and no other begun.
        var isAtRest = false

        var isConnection: Bool { inode != 0 }
    }

    private let epoll: Int32
    private var interests: [Interest] = []

    init(epoll: Int32) {
        self.epoll = epoll
    }

    /// How many connections are open. libcurl closes some sockets without a word, those that were still connecting when
    /// their transfer ended; so the kernel is asked which of them are still what they were.
    var connections: Int {
        interests.indices.count { interests[$0].isConnection && interests[$0].inode == inode(of: Int32($0)) }
    }

    /// A connection's socket was made.
    mutating func opened(_ socket: Int32) {
        reserve(socket)
        interests[Int(socket)] = Interest(inode: inode(of: socket))
    }

    /// A socket is being closed, which takes it out of the epoll set by itself.
    mutating func closed(_ socket: Int32) {
        reserve(socket)
        interests[Int(socket)] = Interest()
    }

    /// libcurl says what it waits for, and the exchange whether it is over where that is nothing.
    mutating func want(_ socket: Int32, _ what: Int32, isOver: @autoclosure () -> Bool) {
        reserve(socket)
        var interest = interests[Int(socket)]
        switch what {
        case CURL_POLL_IN: interest.wanted = EPOLLIN.rawValue
        case CURL_POLL_OUT: interest.wanted = EPOLLOUT.rawValue
        case CURL_POLL_INOUT: interest.wanted = EPOLLIN.rawValue | EPOLLOUT.rawValue
        default: interest.wanted = 0
        }
        let isIdle = interest.wanted == 0 && interest.isConnection
        interest.isAtRest = isIdle && isOver()
        if interest.isAtRest, interest.registered != EPOLLIN.rawValue {
            register(socket, EPOLLIN.rawValue, &interest)
        } else if interest.wanted != interest.registered, !isIdle || interest.registered != EPOLLIN.rawValue {
            register(socket, interest.wanted, &interest)
        }
        interests[Int(socket)] = interest
    }

    /// Whether an exchange over HTTP/1 has ended on the socket, as far as libcurl has told.
    func isAtRest(_ socket: Int32) -> Bool {
        Int(socket) < interests.count && interests[Int(socket)].isAtRest
    }

    /// Whether an event on the socket is one that libcurl waits for; if not, the socket is dropped.
    ///
    /// - Parameters:
    ///   - socket: The socket.
    ///   - isInUse: Whether an exchange goes by the connection of a port on this side and one on the other. One that is paused before libcurl has waited
    ///     for anything has not been told of.
    /// - Returns: Whether libcurl is to be told.
    mutating func isWanted(_ socket: Int32, isInUse: (UInt16, UInt16) -> Bool) -> Bool {
        guard Int(socket) < interests.count else { return false }
        var interest = interests[Int(socket)]
        if interest.wanted != 0 { return true }
        // What the event was about may have been read meanwhile, as another's was acted on.
        if interest.isAtRest, isSilent(socket) { return false }
        if interest.isAtRest, interest.inode == inode(of: socket),
            !isInUse(port(of: socket), port(of: socket, by: getpeername))
        {
            end(socket)
        }
        interest.isAtRest = false
        register(socket, 0, &interest)
        interests[Int(socket)] = interest
        return false
    }

    private func isSilent(_ socket: Int32) -> Bool {
        var byte: UInt8 = 0
        return recv(socket, &byte, 1, Int32(MSG_PEEK | MSG_DONTWAIT)) < 0
            && (errno == EAGAIN || errno == EINTR)
    }

    /// Ends a connection so that libcurl, which looks for the end of what can be read, sees that it has.
    private func end(_ socket: Int32) {
        shutdown(socket, Int32(SHUT_RDWR))
        withUnsafeTemporaryAllocation(byteCount: 16 << 10, alignment: 1) { buffer in
            for _ in 0..<1024 where recv(socket, buffer.baseAddress, buffer.count, Int32(MSG_DONTWAIT)) <= 0 {
                return
            }
        }
    }

    private func register(_ socket: Int32, _ wanted: UInt32, _ interest: inout Interest) {
        var event = epoll_event(events: wanted, data: epoll_data(fd: socket))
        if wanted == 0 {
            epoll_ctl(epoll, EPOLL_CTL_DEL, socket, &event)
        } else if epoll_ctl(epoll, interest.registered == 0 ? EPOLL_CTL_ADD : EPOLL_CTL_MOD, socket, &event) != 0 {
            // The kernel knows better than our books whether the socket is in the set.
            epoll_ctl(epoll, errno == EEXIST ? EPOLL_CTL_MOD : EPOLL_CTL_ADD, socket, &event)
        }
        interest.registered = wanted
    }

    /// The port on this side, or on the other by `getpeername`; 0 where there are none, as there is none any more behind a reset.
    func port(
        of socket: Int32,
        by name: (Int32, UnsafeMutablePointer<sockaddr>, UnsafeMutablePointer<socklen_t>) -> Int32 = getsockname
    ) -> UInt16 {
        var address = sockaddr_storage()
        var size = socklen_t(MemoryLayout<sockaddr_storage>.size)
        return withUnsafeMutablePointer(to: &address) { pointer in
            pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) { _ = name(socket, $0, &size) }
            let isInternet = [AF_INET, AF_INET6].contains(Int32(pointer.pointee.ss_family))
            // Both versions have it in the same place.
            return isInternet
                ? pointer.withMemoryRebound(to: sockaddr_in.self, capacity: 1) {
                    UInt16(bigEndian: $0.pointee.sin_port)
                }
                : 0
        }
    }

    private func inode(of descriptor: Int32) -> UInt {
        var status = stat()
        return fstat(descriptor, &status) == 0 ? UInt(status.st_ino) : 0
    }

    private mutating func reserve(_ socket: Int32) {
        while interests.count <= Int(socket) { interests.append(Interest()) }
    }
}
#endif
