#if os(Linux)
import CCurl
import Glibc
import Testing

@testable import SluiceCurl

/// Connections that are at rest, and events on them.
@Suite struct SocketInterestsTests {
    /// Makes a connection at rest, and gives what its two ends read after an event on it: nil where nothing is there.
    private func reads(sending byte: UInt8?, closing: Bool = false) -> (isWanted: Bool, there: Int?, here: Int?) {
        var ends: [Int32] = [-1, -1]
        socketpair(AF_UNIX, Int32(SOCK_STREAM.rawValue), 0, &ends)
        let epoll = epoll_create1(Int32(EPOLL_CLOEXEC))
        defer { for descriptor in [ends[0], ends[1], epoll] { close(descriptor) } }
        var interests = SocketInterests(epoll: epoll)
        interests.opened(ends[0])
        interests.want(ends[0], Int32(CURL_POLL_IN), isOver: false)
        interests.want(ends[0], Int32(CURL_POLL_REMOVE), isOver: true)
        if var byte { send(ends[1], &byte, 1, 0) }
        if closing { shutdown(ends[1], Int32(SHUT_WR)) }
        let isWanted = interests.isWanted(ends[0]) { _, _ in false }
        let received = ends.map { end in
            var buffer: UInt8 = 0
            let count = recv(end, &buffer, 1, Int32(MSG_DONTWAIT))
            return count < 0 ? nil : count
        }
        return (isWanted, received[1], received[0])
    }

    @Test func whatSaysSomethingIsEnded() {
        #expect(reads(sending: 1) == (false, 0, 0))
        #expect(reads(sending: nil, closing: true) == (false, 0, 0))
    }

    /// Its event was that of an answer which has been read since.
    @Test func whatSaysNothingStands() {
        #expect(reads(sending: nil) == (false, nil, nil))
    }
}
#endif
