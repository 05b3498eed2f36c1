import SluiceFoundation
import SluiceHTTP

/// A file that is served according to RFC 9110, including range requests and preconditions.
///
/// ```swift
/// let film = LoopbackResource(data, eTag: "\"1\"")
/// server.on(
///     "/film",
///     .resource(film).interrupted(after: 300_000),    // the connection is lost twice
///     .resource(film).interrupted(after: 300_000),
///     .resource(film)                                 // the third response is complete
/// )
/// ```
///
/// GET and HEAD are answered with 200, 206, 304, 412 or 416 as RFC 9110 §13 and §14 require, other methods with 405. A
/// `Range` with several ranges is ignored, as §14.2 allows.
public struct LoopbackResource: Sendable {
    /// The contents of the file.
    public var data: Data
    /// The `Content-Type`.
    public var contentType: String
    /// The value of the `ETag` field with its quotes, `"1"` or `W/"1"`. Nil for no field.
    public var eTag: String?
    /// The value of the `Last-Modified` field, sent in whole seconds. Nil for no field.
    public var lastModified: Date?
    /// True if range requests are supported. If false, every GET returns the whole file, and `Accept-Ranges` is `none`.
    public var acceptsRanges: Bool
    /// Additional header fields for every response.
    public var headers: HTTPHeaders
    /// The faults of the server. None by default.
    package var faults: [Fault] = []

    /// Creates a file.
    ///
    /// - Parameters:
    ///   - data: The contents.
    ///   - contentType: The `Content-Type`. `application/octet-stream` by default.
    ///   - eTag: The entity tag with its quotes. Without it and `lastModified`, a client cannot resume a download.
    ///   - lastModified: The date of the last change.
    ///   - acceptsRanges: True to support range requests.
    ///   - headers: Additional header fields for every response.
    public init(
        _ data: Data,
        contentType: String = "application/octet-stream",
        eTag: String? = nil,
        lastModified: Date? = nil,
        acceptsRanges: Bool = true,
        headers: HTTPHeaders = [:]
    ) {
        self.data = data
        self.contentType = contentType
        self.eTag = eTag
        self.lastModified = lastModified
        self.acceptsRanges = acceptsRanges
        self.headers = headers
    }

    /// Returns the same file with additional server faults.
    package func withFaults(_ faults: Fault...) -> LoopbackResource {
        var resource = self
        resource.faults += faults
        return resource
    }

    /// Returns the response to a request, for use in a route closure.
    public func response(to request: LoopbackRequest) -> LoopbackResponse {
        guard request.method == .get || request.method == .head else {
            return .status(405, headers: ["Allow": "GET, HEAD"])
        }
        let validators = ResourceValidators(eTag: eTag, lastModified: lastModified)
        switch validators.verdict(on: request.headers) {
        case .notModified: return .status(.notModified, headers: commonHeaders)
        case .failed: return .status(412, headers: commonHeaders)
        case .proceed: break
        }
        let usesRange =
            request.method == .get && acceptsRanges
            && (faults.contains(.ignoringIfRange) || validators.allowRange(request.headers["If-Range"]))
        let range = usesRange ? request.headers["Range"].flatMap(ByteRangeRequest.init) : nil
        switch range?.extent(of: Int64(data.count)) {
        case .everything, nil: return whole
        case .bytes(let range): return part(Int(range.lowerBound)..<Int(range.upperBound))
        case .unsatisfiable:
            return .status(416, headers: commonHeaders.adding("Content-Range", "bytes */\(announcedTotal)"))
        }
    }

    private var whole: LoopbackResponse {
        for case .unrequestedPart(let range) in faults { return part(range.clamped(to: 0..<data.count)) }
        return .data(data, contentType: contentType, headers: commonHeaders)
    }

    private func part(_ range: Range<Int>) -> LoopbackResponse {
        var (shift, missing) = (0, 0)
        for fault in faults {
            if case .shiftedRange(let by) = fault { shift = by }
            if case .shortPart(let by) = fault { missing = by }
        }
        var headers = commonHeaders
        if !faults.contains(.noContentRange) {
            let last = range.upperBound &- 1
            headers["Content-Range"] = "bytes \(range.lowerBound &+ shift)-\(last &+ shift)/\(announcedTotal)"
        }
        let bytes = data.dropFirst(range.lowerBound).prefix(max(0, range.count &- max(0, missing)))
        return .data(bytes, contentType: contentType, status: .partialContent, headers: headers)
    }

    private var announcedTotal: String {
        for case .total(let total) in faults { return total.map { "\($0)" } ?? "*" }
        return "\(data.count)"
    }

    private var commonHeaders: HTTPHeaders {
        var fields = headers
        fields.append(.date, HTTPDate.string(from: Date()))
        fields.append("Accept-Ranges", acceptsRanges ? "bytes" : "none")
        if let eTag { fields.append(.eTag, eTag) }
        if let lastModified { fields.append("Last-Modified", HTTPDate.string(from: lastModified)) }
        return fields
    }
}

extension LoopbackResource {
    /// A fault of a file server.
    package enum Fault: Sendable, Equatable {
        /// The `Content-Range` names the wrong bytes. Its first and last position are shifted by the given number.
        case shiftedRange(by: Int)
        /// The `Content-Range` has the wrong complete length. Nil stands for `*`, an unknown length, which is valid
        /// (RFC 9110 §14.4).
        case total(Int64?)
        /// A 206 response has no `Content-Range`.
        case noContentRange
        /// A request for the whole file is answered with 206 and the given range.
        case unrequestedPart(Range<Int>)
        /// A part is shorter than requested by the given number of bytes. Its `Content-Length` matches the bytes sent.
        case shortPart(by: Int)
        /// A part is sent although the `If-Range` field does not match the current representation.
        case ignoringIfRange
    }
}

extension LoopbackResponse {
    /// Serves a file with range requests and preconditions: see ``LoopbackResource``.
    public static func resource(_ resource: LoopbackResource) -> LoopbackResponse {
        LoopbackResponse(.answer { resource.response(to: $0) })
    }
}

extension HTTPHeaders {
    fileprivate func adding(_ name: HTTPHeaderName, _ value: String) -> HTTPHeaders {
        var headers = self
        headers.append(name, value)
        return headers
    }
}

// MARK: - Preconditions

/// The validators of a resource (RFC 9110 §8.8) and the evaluation of preconditions (§13).
struct ResourceValidators {
    let eTag: String?
    let lastModified: Date?

    /// The result of the preconditions of a GET or HEAD request.
    enum Verdict: Equatable {
        case proceed
        case notModified
        case failed
    }

    /// Evaluates the preconditions in the order of §13.2.2.
    func verdict(on headers: HTTPHeaders) -> Verdict {
        if let tags = headers["If-Match"] {
            if !isNamed(in: tags, isWeakEnough: false) { return .failed }
        } else if let date = date(headers["If-Unmodified-Since"]), let modified, modified > date {
            return .failed
        }
        if let tags = headers["If-None-Match"] {
            return isNamed(in: tags, isWeakEnough: true) ? .notModified : .proceed
        }
        if let date = date(headers["If-Modified-Since"]), let modified, modified <= date { return .notModified }
        return .proceed
    }

    /// Returns true if a part may be sent for an `If-Range` field (§13.1.5).
    ///
    /// The field must be the same strong entity tag, or exactly the modification date. True if there is no field.
    func allowRange(_ ifRange: String?) -> Bool {
        guard let ifRange else { return true }
        if let date = date(ifRange) { return date == modified }
        return isStrong(ifRange) && ifRange == eTag
    }

    /// The modification date in whole seconds, as a header field represents it.
    private var modified: Date? {
        lastModified.flatMap { HTTPDate.parse(HTTPDate.string(from: $0)) }
    }

    private func date(_ field: String?) -> Date? {
        field.flatMap { HTTPDate.parse($0) }
    }

    /// Returns true if a list contains the entity tag.
    private func isNamed(in list: String, isWeakEnough: Bool) -> Bool {
        guard list != "*" else { return true }
        guard let eTag else { return false }
        let tags = FieldElements(list.utf8[...], quotes: .literal).map { String(Substring($0)) }
        guard isWeakEnough else { return isStrong(eTag) && tags.contains(eTag) }
        return tags.contains { opaque($0) == opaque(eTag) }
    }

    private func isStrong(_ tag: String) -> Bool {
        tag.hasPrefix("\"")
    }

    private func opaque(_ tag: String) -> Substring {
        tag.hasPrefix("W/") ? tag.dropFirst(2) : tag[...]
    }
}
