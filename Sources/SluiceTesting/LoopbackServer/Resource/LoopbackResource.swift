import SluiceHTTP

#if canImport(FoundationEssentials)
import FoundationEssentials
#else
import Foundation
#endif

/// A file that is served according to RFC 9110, including range requests and preconditions.
///
/// ```swift
/// let film = LoopbackResource(data, eTag: "\"1\"")
/// server.on(
///     "/film",
///     .resource(film).cutOff(after: 300_000),    // the connection is lost, twice
///     .resource(film).cutOff(after: 300_000),
///     .resource(film)                            // and then holds
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
    public var lies: [Lie] = []

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
    public func lying(_ lies: Lie...) -> LoopbackResource {
        var resource = self
        resource.lies += lies
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
        let heedsRange =
            request.method == .get && acceptsRanges
            && (lies.contains(.ignoringIfRange) || validators.allowRange(request.headers["If-Range"]))
        switch RangeRequest(heedsRange ? request.headers["Range"] : nil, length: data.count) {
        case .whole: return whole
        case .part(let range): return part(range)
        case .unsatisfiable:
            return .status(416, headers: commonHeaders.adding("Content-Range", "bytes */\(announcedTotal)"))
        }
    }

    private var whole: LoopbackResponse {
        for case .unaskedPart(let range) in lies { return part(range.clamped(to: 0..<data.count)) }
        return .data(data, contentType: contentType, headers: commonHeaders)
    }

    private func part(_ range: Range<Int>) -> LoopbackResponse {
        var (shift, missing) = (0, 0)
        for lie in lies {
            if case .shiftedRange(let by) = lie { shift = by }
            if case .shortPart(let by) = lie { missing = by }
        }
        var headers = commonHeaders
        if !lies.contains(.noContentRange) {
            let last = range.upperBound &- 1
            headers["Content-Range"] = "bytes \(range.lowerBound &+ shift)-\(last &+ shift)/\(announcedTotal)"
        }
        let bytes = data.dropFirst(range.lowerBound).prefix(max(0, range.count &- max(0, missing)))
        return .data(bytes, contentType: contentType, status: .partialContent, headers: headers)
    }

    private var announcedTotal: String {
        for case .total(let total) in lies { return total.map { "\($0)" } ?? "*" }
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
