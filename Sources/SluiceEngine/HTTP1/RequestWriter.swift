#if os(Linux)
import SluiceHTTP

/// Serializes requests for HTTP/1.1 (RFC 9112 §3 to §7): heads, and the framing of chunked bodies.
package enum RequestWriter {
    /// The framing of a request's body (RFC 9112 §6).
    package enum Framing: Sendable, Equatable {
        case none
        case length(Int64)
        case chunked
    }

    /// The form of a request's target (RFC 9112 §3.2).
    package enum Target: Sendable, Equatable {
        /// Path and query, for the origin server. The request's own `Proxy-Authorization` field is omitted.
        case origin
        /// The absolute URL, for a proxy. The value replaces the request's own `Proxy-Authorization` field, unless it is nil.
        case absolute(proxyAuthorization: String?)
    }

    /// The end of a chunk, after its data.
    package static let chunkEnd: StaticString = "\r\n"
    /// The last chunk with an empty trailer section.
    package static let lastChunk: StaticString = "0\r\n\r\n"

    /// Appends the head of a request to `buffer`.
    ///
    /// The request's fields keep their order and case. `Host` comes first unless the request has its own. `Accept: */*` and
    /// `Accept-Encoding` are added if the request has none. The request must have passed `HTTPRequest.validate()`.
    ///
    /// - Parameters:
    ///   - request: The request. Its body is ignored.
    ///   - target: The form of the target, with the credentials for a proxy.
    ///   - framing: Determines `Content-Length` and `Transfer-Encoding`. The request's own are omitted. A POST, PUT or PATCH
    ///     without a body announces a length of 0 (RFC 9110 §8.6).
    ///   - codings: The content codings that the caller accepts, as a value for `Accept-Encoding`.
    ///   - omitsExpect: True to omit the request's `Expect` field.
    ///   - added: The fields of the transport, after those of the request.
    ///   - buffer: The buffer.
    package static func appendHead(
        of request: HTTPRequest,
        target: Target = .origin,
        framing: Framing,
        codings: StaticString?,
        omitsExpect: Bool,
        adding added: HTTPHeaders = [:],
        to buffer: inout [UInt8]
    ) {
        let size =
            request.method.rawValue.utf8.count + request.path.utf8.count + request.authority.utf8.count
            + request.headers.byteCount + added.byteCount + (codings?.utf8CodeUnitCount ?? 0) + 128
        buffer.reserveCapacity(buffer.count + size)
        buffer.append(text: request.method.rawValue)
        buffer.append(UInt8(ascii: " "))
        var proxyAuthorization: String?
        var omitsProxyAuthorization = true
        if case .absolute(let authorization) = target {
            proxyAuthorization = authorization
            omitsProxyAuthorization = authorization != nil
            appendAbsoluteTarget(of: request, to: &buffer)
        } else {
            buffer.append(text: request.path)
        }
        buffer.append(ascii: " HTTP/1.1\r\n")
        if !request.headers.contains(.host) {
            buffer.append(ascii: "Host: ")
            buffer.append(hostOf: request)
            buffer.append(ascii: "\r\n")
        }
        if let proxyAuthorization {
            buffer.append(ascii: "Proxy-Authorization: ")
            buffer.append(text: proxyAuthorization)
            buffer.append(ascii: "\r\n")
        }
        let present = appendFields(
            of: request.headers,
            omitsExpect: omitsExpect,
            omitsProxyAuthorization: omitsProxyAuthorization,
            to: &buffer
        )
        if !added.isEmpty {
            _ = appendFields(of: added, omitsExpect: omitsExpect, omitsProxyAuthorization: false, to: &buffer)
        }
        if !present.hasAccept { buffer.append(ascii: "Accept: */*\r\n") }
        if let codings, !present.hasAcceptEncoding {
            buffer.append(ascii: "Accept-Encoding: ")
            buffer.append(ascii: codings)
            buffer.append(ascii: "\r\n")
        }
        switch framing {
        case .chunked:
            buffer.append(ascii: "Transfer-Encoding: chunked\r\n")
        case .length(let count):
            buffer.append(ascii: "Content-Length: ")
            buffer.append(number: UInt64(clamping: count), radix: 10)
            buffer.append(ascii: "\r\n")
        case .none:
            if request.method.announcesNoContent { buffer.append(ascii: "Content-Length: 0\r\n") }
        }
        buffer.append(ascii: "\r\n")
    }

    /// Appends the absolute form of the request target (RFC 9112 §3.2.2).
    package static func appendAbsoluteTarget(of request: HTTPRequest, to buffer: inout [UInt8]) {
        buffer.append(text: request.scheme)
        buffer.append(ascii: "://")
        buffer.append(hostOf: request)
        buffer.append(text: request.path)
    }

    /// Returns the fields of a head that ``appendHead(of:target:framing:codings:omitsExpect:adding:to:)`` has written.
    package static func fields(ofHead head: ArraySlice<UInt8>) -> HTTPHeaders {
        var fields = HTTPHeaders()
        // The first line is the request line. No field contains a CR.
        for line in head.split(separator: UInt8(ascii: "\r")).dropFirst() {
            let line = line.dropFirst()
            guard let colon = line.firstIndex(of: UInt8(ascii: ":")) else { continue }
            line.withUnsafeBytes { bytes in
                let name = UnsafeRawBufferPointer(rebasing: bytes[..<(colon - line.startIndex)])
                let value = UnsafeRawBufferPointer(rebasing: bytes[(name.count + 1)...]).trimmed
                fields.append(name: name, value: value)
            }
        }
        return fields
    }

    /// Appends the size line of a chunk of `count` bytes. Appends nothing for an empty chunk, which would end the body.
    package static func appendChunkHead(_ count: Int, to buffer: inout [UInt8]) {
        guard count > 0 else { return }
        buffer.append(number: UInt64(count), radix: 16)
        buffer.append(ascii: "\r\n")
    }

    /// Appends the fields that the request controls, directly from their buffer.
    private static func appendFields(
        of headers: HTTPHeaders,
        omitsExpect: Bool,
        omitsProxyAuthorization: Bool,
        to buffer: inout [UInt8]
    ) -> (hasAccept: Bool, hasAcceptEncoding: Bool) {
        var (hasHost, hasAccept, hasAcceptEncoding) = (false, false, false)
        headers.bytes.withUnsafeBytes { bytes in
            for index in 0..<headers.count {
                let line = headers.line(at: index)
                let name = UnsafeRawBufferPointer(rebasing: bytes[line.offset..<line.offset + line.nameLength])
                switch name.count {
                case 4 where name.isName("host"):
                    // RFC 9112 §3.2: there is exactly one.
                    if hasHost { continue }
                    hasHost = true
                case 6 where name.isName("accept"): hasAccept = true
                case 6 where omitsExpect && name.isName("expect"): continue
                case 14 where name.isName("content-length"): continue
                case 15 where name.isName("accept-encoding"): hasAcceptEncoding = true
                case 17 where name.isName("transfer-encoding"): continue
                case 19 where omitsProxyAuthorization && name.isName("proxy-authorization"): continue
                default: break
                }
                let end = line.isValueEmpty ? line.offset + line.nameLength + 1 : line.end
                buffer.append(contentsOf: UnsafeRawBufferPointer(rebasing: bytes[line.offset..<end]))
                buffer.append(ascii: "\r\n")
            }
        }
        return (hasAccept, hasAcceptEncoding)
    }
}

extension [UInt8] {
    /// Has another label than the function for strings, because a literal would prefer that one.
    @inline(__always)
    mutating func append(ascii text: StaticString) {
        append(contentsOf: UnsafeBufferPointer(start: text.utf8Start, count: text.utf8CodeUnitCount))
    }

    /// Appends the host and port of a request without the default port of the scheme, and without the zone of an IPv6
    /// address, which is meaningless to the server (RFC 9110 §4.2.3 and §7.2, RFC 6874 §4).
    mutating func append(hostOf request: HTTPRequest) {
        var authority = request.authority
        authority.withUTF8 { text in
            let bytes = UnsafeRawBufferPointer(text)
            let bracket = bytes.first == UInt8(ascii: "[") ? bytes.lastIndex(of: UInt8(ascii: "]")) : nil
            var end = bytes.count
            if let colon = bytes[(bracket ?? 0)...].lastIndex(of: UInt8(ascii: ":")),
                UnsafeRawBufferPointer(rebasing: bytes[(colon + 1)...]).decimalNumber()
                    == (request.scheme == "https" ? 443 : 80)
            {
                end = colon
            }
            var start = 0
            if let bracket, let percent = bytes[..<bracket].firstIndex(of: UInt8(ascii: "%")) {
                append(contentsOf: bytes[..<percent])
                start = bracket
            }
            append(contentsOf: bytes[start..<end])
        }
    }

    fileprivate mutating func append(number: UInt64, radix: UInt64) {
        var number = number
        let start = count
        repeat {
            let digit = UInt8(truncatingIfNeeded: number % radix)
            append(digit < 10 ? digit + UInt8(ascii: "0") : digit - 10 + UInt8(ascii: "a"))
            number /= radix
        } while number > 0
        self[start...].reverse()
    }
}

extension HTTPMethod {
    /// True for methods whose request without content has a `Content-Length` of 0 (RFC 9110 §8.6).
    var announcesNoContent: Bool {
        switch rawValue {
        case "POST", "PUT", "PATCH": true
        default: false
        }
    }
}
#endif
