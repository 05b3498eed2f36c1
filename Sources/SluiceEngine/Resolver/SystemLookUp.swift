#if os(Linux)
import Glibc
import SluiceHTTP

/// Resolves names with getaddrinfo(3), according to the configuration of the system (hosts file, DNS, mDNS and others).
enum SystemLookUp {
    /// Returns the addresses of a name in the system's order (RFC 6724). Blocks until the answer is known.
    static func addresses(of name: String) -> Result<[ScopedAddress], Resolver.Failure> {
        var hints = addrinfo()
        // AI_ADDRCONFIG is not set: it ignores loopback addresses, so a host with only `lo` would resolve nothing.
        hints.ai_family = AF_UNSPEC
        hints.ai_socktype = Int32(SOCK_STREAM.rawValue)
        var list: UnsafeMutablePointer<addrinfo>?
        let code = getaddrinfo(name, nil, &hints, &list)
        let systemCode = errno
        guard code == 0 else { return .failure(failure(code, errno: systemCode)) }
        defer { if let list { freeaddrinfo(list) } }
        var addresses: [ScopedAddress] = []
        var next = list
        while let entry = next {
            if let pointer = entry.pointee.ai_addr,
                let socket = SocketAddress(pointer, length: entry.pointee.ai_addrlen)
            {
                addresses.append(ScopedAddress(socket.address, scope: socket.scope))
            }
            next = entry.pointee.ai_next
        }
        return .success(addresses)
    }

    /// Returns the failure for an error code of getaddrinfo.
    static func failure(_ code: Int32, errno systemCode: Int32) -> Resolver.Failure {
        switch code {
        case EAI_NONAME, noData, noAddressOfFamily: .notFound
        case EAI_SYSTEM: .temporary(String(cString: strerror(systemCode)))
        default: .temporary(String(cString: gai_strerror(code)))
        }
    }

    /// `EAI_NODATA` and `EAI_ADDRFAMILY`, which the C library declares only with `_GNU_SOURCE`.
    private static var noData: Int32 { -5 }
    private static var noAddressOfFamily: Int32 { -9 }
}
#endif
