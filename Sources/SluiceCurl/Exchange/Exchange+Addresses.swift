#if os(Linux)
import CCurl
import Glibc
import SluiceHTTP

extension Exchange {
    /// Makes the socket of a connection, unless it may not lead where it is to: libcurl then tries the host's next address.
    func openSocket(to address: UnsafeMutablePointer<curl_sockaddr>) -> curl_socket_t {
        handle.set(CURLOPT_ERRORBUFFER, pointer: errorText)
        if let policy = plan?.addresses, policy != .any, let target = address.ipAddress, !policy.allows(target) {
            refusedAddress = target
            return CURL_SOCKET_BAD
        }
        hasOpenedSocket = true
        return engine.openSocket(address)
    }

    /// Whether the transfer may go by a connection that leads to an address; it may have been made for somebody who may connect to others.
    func mayConnect(to address: UnsafePointer<CChar>?, _ transfer: Transfer) -> Bool {
        let policy = transfer.plan.addresses
        if policy == .any || transfer.plan.unixSocket != nil { return true }
        // There is none while a connection is still being made.
        guard let address, address.pointee != 0 else { return fail(.refusedAddress(transfer.request)) }
        // Most requests go where the last one went.
        if strcmp(address, allowedAddress) == 0 { return true }
        let text = String(cString: address)
        // Behind an address of one wire stands the zone.
        guard let target = IPAddress(String(text.prefix { $0 != "%" })), policy.allows(target) else {
            return fail(.refusedAddress(transfer.request))
        }
        allowedAddress = text
        return true
    }

    /// Why nothing was connected to, where that was since nothing might be.
    var refusal: SluiceError? {
        guard let transfer, refusedAddress != nil, !hasOpenedSocket else { return nil }
        return .refusedAddress(transfer.request)
    }
}

extension UnsafeMutablePointer<curl_sockaddr> {
    /// The address of either version of the protocol; nil for others.
    fileprivate var ipAddress: IPAddress? {
        guard let offset = MemoryLayout<curl_sockaddr>.offset(of: \.addr) else { return nil }
        let start = UnsafeRawPointer(self) + offset
        switch pointee.family {
        case AF_INET:
            let bytes = start.loadUnaligned(as: sockaddr_in.self).sin_addr.s_addr
            return withUnsafeBytes(of: bytes) { IPAddress(bytes: $0) }
        case AF_INET6:
            return withUnsafeBytes(of: start.loadUnaligned(as: sockaddr_in6.self).sin6_addr) { IPAddress(bytes: $0) }
        default:
            return nil
        }
    }
}

extension SluiceError {
    /// Which address it was stays untold: whoever named the host may be the one to read this.
    fileprivate static func refusedAddress(_ request: HTTPRequest) -> SluiceError {
        SluiceError(
            .addressRefused,
            "\(request.authority) leads to an address that this client may not connect to."
        )
    }
}
#endif
