#if os(Linux)
import CNghttp2
import SluiceHTTP

/// The fields of a request in HTTP/2 form (RFC 9113 §8.3): lower-case names, and the request line as pseudo-header fields.
struct HTTP2RequestHead {
    private struct Field {
        let name: Range<Int>
        let value: Range<Int>
        let isSecret: Bool
    }

    private var bytes: [UInt8] = []
    private var fields: [Field] = []

    /// Creates the fields of a request.
    ///
    /// - Parameters:
    ///   - request: The request. Its body is ignored.
    ///   - length: The length of the body. Nil if it is unknown, and 0 for no body.
    ///   - codings: The content codings that the caller accepts, as a value for `accept-encoding`.
    ///   - omitsExpect: True to omit the request's `Expect` field.
    init(of request: HTTPRequest, length: Int64?, codings: StaticString?, omitsExpect: Bool) {
        bytes.reserveCapacity(request.headers.byteCount + request.path.utf8.count + 192)
        fields.reserveCapacity(request.headers.count + 8)
        add(":method", request.method.rawValue)
        add(":scheme", request.scheme)
        if let host = request.headers.values(for: .host).first {
            add(":authority", host)
        } else {
            add(":authority") { $0.append(hostOf: request) }
        }
        add(":path", request.path)
        let present = addFields(of: request.headers, omitsExpect: omitsExpect)
        if !present.hasAccept { add("accept", "*/*") }
        if let codings, !present.hasAcceptEncoding { add("accept-encoding", "\(codings)") }
        if let length, length > 0 || request.method.announcesNoContent { add("content-length", "\(length)") }
    }

    /// Appends fields of the transport after those of the request.
    mutating func add(_ headers: HTTPHeaders) {
        if !headers.isEmpty { _ = addFields(of: headers, omitsExpect: false) }
    }

    /// The fields, with the authority as `Host` and without the other pseudo-header fields.
    var headers: HTTPHeaders {
        var headers = HTTPHeaders()
        bytes.withUnsafeBytes { bytes in
            for field in fields {
                let name = UnsafeRawBufferPointer(rebasing: bytes[field.name])
                let value = UnsafeRawBufferPointer(rebasing: bytes[field.value])
                if name.isName(":authority") {
                    headers.append(.host, String(decoding: value, as: UTF8.self))
                } else if name.first != UInt8(ascii: ":") {
                    headers.append(name: name, value: value)
                }
            }
        }
        return headers
    }

    private mutating func add(_ name: StaticString, _ value: String) {
        add(name) { $0.append(contentsOf: value.utf8) }
    }

    private mutating func add(_ name: StaticString, _ append: (inout [UInt8]) -> Void) {
        let start = bytes.count
        name.withUTF8Buffer { bytes.append(contentsOf: $0) }
        let end = bytes.count
        append(&bytes)
        let name = start..<end
        fields.append(Field(name: name, value: end..<bytes.count, isSecret: isSecret(name, length: bytes.count - end)))
    }

    /// Appends fields except the connection-specific ones of HTTP/1.1 (RFC 9113 §8.2.2).
    private mutating func addFields(
        of headers: HTTPHeaders,
        omitsExpect: Bool
    ) -> (hasAccept: Bool, hasAcceptEncoding: Bool) {
        var (hasAccept, hasAcceptEncoding) = (false, false)
        let connectionOptions = headers.connectionOptions
        headers.bytes.withUnsafeBytes { source in
            for index in 0..<headers.count {
                let line = headers.line(at: index)
                let name = UnsafeRawBufferPointer(rebasing: source[line.offset..<line.offset + line.nameLength])
                switch name.count {
                case 2 where name.isName("te"):
                    let value = source[line.offset + line.nameLength + 2..<line.end]
                    guard value.elementsEqual("trailers".utf8, by: { $0.asciiLowercased == $1 }) else { continue }
                case 4 where name.isName("host"): continue
                case 6 where name.isName("accept"): hasAccept = true
                case 6 where omitsExpect && name.isName("expect"): continue
                case 7 where name.isName("upgrade"): continue
                case 10 where name.isName("connection") || name.isName("keep-alive"): continue
                case 14 where name.isName("content-length") || name.isName("http2-settings"): continue
                case 15 where name.isName("accept-encoding"): hasAcceptEncoding = true
                case 16 where name.isName("proxy-connection"): continue
                case 17 where name.isName("transfer-encoding"): continue
                // The credentials for a proxy are sent to the proxy only, in its handshake.
                case 19 where name.isName("proxy-authorization"): continue
                default: break
                }
                let start = bytes.count
                for byte in name { bytes.append(byte.asciiLowercased) }
                let end = bytes.count
                if connectionOptions.contains(where: { $0.utf8.elementsEqual(bytes[start..<end]) }) {
                    bytes.removeSubrange(start...)
                    continue
                }
                if !line.isValueEmpty {
                    let value = source[line.offset + line.nameLength + 2..<line.end]
                    bytes.append(contentsOf: UnsafeRawBufferPointer(rebasing: value).trimmed)
                }
                let range = start..<end
                fields.append(
                    Field(name: range, value: end..<bytes.count, isSecret: isSecret(range, length: bytes.count - end))
                )
            }
        }
        return (hasAccept, hasAcceptEncoding)
    }

    /// Returns true for a value that must not be added to a dynamic table, where others could probe for it (RFC 7541 §7.1.3).
    private func isSecret(_ name: Range<Int>, length: Int) -> Bool {
        bytes.withUnsafeBytes { bytes in
            let name = UnsafeRawBufferPointer(rebasing: bytes[name])
            return switch name.count {
            case 6: length < 20 && name.isName("cookie")
            case 13: name.isName("authorization")
            default: false
            }
        }
    }

    /// Calls `body` with the fields in nghttp2's form. The pointers are valid during the call.
    mutating func withFields<Result>(_ body: (UnsafePointer<nghttp2_nv>?, Int) -> Result) -> Result {
        let fields = fields
        return bytes.withUnsafeMutableBufferPointer { bytes in
            withUnsafeTemporaryAllocation(of: nghttp2_nv.self, capacity: fields.count) { values in
                for (index, field) in fields.enumerated() {
                    let base = bytes.baseAddress
                    values.initializeElement(
                        at: index,
                        to: nghttp2_nv(
                            name: base.map { $0 + field.name.lowerBound },
                            value: base.map { $0 + field.value.lowerBound },
                            namelen: field.name.count,
                            valuelen: field.value.count,
                            flags: UInt8(field.isSecret ? NGHTTP2_NV_FLAG_NO_INDEX.rawValue : 0)
                        )
                    )
                }
                return body(values.baseAddress, fields.count)
            }
        }
    }
}

/// The fields of one head or trailer section of a response, which nghttp2 passes one by one.
struct HTTP2ResponseHead {
    private(set) var status = 0
    private(set) var fields = HTTPHeaders()

    /// Adds a field that nghttp2 has validated.
    mutating func append(_ name: UnsafeRawBufferPointer, _ value: UnsafeRawBufferPointer) {
        if name.first == UInt8(ascii: ":") {
            if name.count == 7 { status = value.reduce(0) { $0 * 10 + Int($1 &- 48) } }
        } else {
            fields.append(name: name, value: value)
        }
    }

    /// Returns the head and resets the fields.
    mutating func takeResponse() -> HTTPResponse {
        var response = HTTPResponse(status: HTTPStatus(rawValue: status), version: .http2)
        swap(&response.headers, &fields)
        status = 0
        return response
    }

    /// Returns the trailer section and resets the fields.
    mutating func takeTrailers() -> HTTPHeaders {
        defer { fields = HTTPHeaders() }
        return fields
    }
}

#endif
