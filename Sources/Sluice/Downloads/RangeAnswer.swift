import SluiceCache
import SluiceHTTP

/// The meaning of a response head to a download that requested bytes of a resource (RFC 9110 §14, §15.3.7, §15.5.17).
enum RangeAnswer: Equatable {
    /// The requested bytes of the expected version.
    case part(Range<Int64>, of: RemoteResource)
    /// The whole resource, which replaces the bytes that are there.
    case whole(RemoteResource)
    /// The resource has another version than the bytes that are there, or the server does not support ranges. The whole
    /// must be requested.
    case changed
    /// The bytes that are there are already the whole resource.
    case complete
    /// An invalid response, and the reason.
    case refused(String)
    /// A response that is not written to the file.
    case other

    /// True if the response has bytes for the file.
    var hasBytes: Bool {
        switch self {
        case .part, .whole: true
        case .changed, .complete, .refused, .other: false
        }
    }

    /// The bytes that were requested, and the known state of the resource.
    struct RequestedRange: Equatable {
        /// The first byte requested; nil for the whole resource.
        var first: Int64?
        /// The end of the requested range; nil for the end of the resource.
        var end: Int64?
        /// The known properties of the resource; nil if nothing is known.
        var resource: RemoteResource?
        /// The number of bytes that are already there.
        var completed: Int64 = 0
        /// True if some of them were received by this send. The credentials may have been renewed since then.
        var hasReceived = false
    }

    /// Interprets a head.
    ///
    /// - Parameters:
    ///   - head: The head of the response.
    ///   - requested: The bytes that were requested.
    ///   - request: The request of the response, after redirects.
    ///   - owner: The owner of the response.
    init(
        _ head: HTTPResponse,
        to requested: RequestedRange,
        by request: HTTPRequest,
        owner: RequestOwner = RequestOwner()
    ) {
        switch head.status {
        case .partialContent:
            self = Self.partial(head, requested, request, owner)
        case 416 where requested.first != nil:
            let length = head.headers[.contentRange].flatMap(ContentRange.init)?.length
            // Without a known resource, an empty file is requested again as a whole, which gives its properties.
            let isWhole = length == requested.completed && length == requested.resource.flatMap { $0.length ?? length }
            let isTarget = requested.mayBeContinued(by: request, owner)
            let isOther = Self.isOther(head, than: requested.resource?.validator)
            self = isWhole && isTarget && !isOther ? .complete : .changed
        // It has no content (RFC 9110 §15.3.5), and does not replace the bytes that are there.
        case .noContent where requested.first != nil:
            self = .other
        case let status where status.class == .success:
            let isSegment = requested.end != nil && requested.resource != nil
            self = isSegment ? .changed : .whole(RemoteResource(head, by: request, owner: owner))
        default:
            self = .other
        }
    }

    /// True if a 416 response has the validator of another version. It need not have any.
    private static func isOther(_ head: HTTPResponse, than known: ResourceValidator?) -> Bool {
        if case .entityTag = known, !head.headers.contains(.eTag) { return false }
        return known?.matches(head) == false
    }

    private static func partial(
        _ head: HTTPResponse,
        _ requested: RequestedRange,
        _ request: HTTPRequest,
        _ owner: RequestOwner
    ) -> RangeAnswer {
        guard let first = requested.first else {
            return .refused("it is partial, but the whole resource was requested")
        }
        guard let field = head.headers[.contentRange].flatMap(ContentRange.init), let range = field.range else {
            return .refused("it is partial and has no valid Content-Range")
        }
        guard range.lowerBound == first, range.upperBound <= requested.end ?? .max else {
            return .refused("its range is not the requested one")
        }
        // A range of an encoded representation is not a range of the file.
        if head.headers.hasContentCoding { return .changed }
        guard var resource = requested.resource else {
            var resource = RemoteResource(head, by: request, owner: owner)
            resource.length = field.length
            return resource.validator == nil || resource.length == nil ? .changed : .part(range, of: resource)
        }
        if resource.validator?.matches(head) == false { return .changed }
        if !requested.mayBeContinued(by: request, owner) { return .changed }
        if let known = resource.length, let length = field.length, known != length { return .changed }
        resource.length = resource.length ?? field.length
        resource.selection = resource.selection.map { RequestSelection($0.names, of: request, owner) }
        return .part(range, of: resource)
    }
}

/// The resource that a partial file belongs to.
struct RemoteResource: Codable, Sendable, Hashable {
    /// The URL of the request, after redirects, without its query, which may hold a signature.
    var url: String
    /// The validator that identifies this version of the resource; nil if it has no strong one.
    var validator: ResourceValidator?
    /// The length in bytes; nil until a response announces it.
    var length: Int64?
    /// The safe form of the name that the server suggests.
    var name: String?
    /// The selection of the representation; nil if the validator is an entity tag, which no two representations of a
    /// resource share.
    var selection: RequestSelection?
}

/// The owner of the response to a request.
struct RequestOwner: Sendable {
    /// The digest of the credentials, without the cookies of a jar; nil for anyone.
    var digest: String?
    /// The identity of the cookie jar when the request was sent; nil for none.
    var jar: String?
}

/// The credentials and the fields of a request that select one of the representations of a resource.
///
/// The representations for two users, or in two languages, can have the same date of modification.
struct RequestSelection: Codable, Sendable, Hashable {
    /// The names of the fields that `Vary` lists (RFC 9110 §12.5.5), in lower case.
    let names: [String]
    /// A digest of their values, and that of the credentials; nil if no other request has the same ones.
    private let digest: String?
    /// The identity of the cookie jar; nil for none.
    let jar: String?

    init(_ names: [String], of request: HTTPRequest, _ owner: RequestOwner) {
        self.names = names
        // The transport adds the cookies of a jar after this request.
        let isUnknown = names.contains("*") || owner.jar != nil && names.contains("cookie")
        let fields = isUnknown ? nil : VaryField.digest(of: names, in: request.headers)
        digest = fields.map { "\($0).\(owner.digest ?? "")" }
        jar = owner.jar
    }

    init(_ head: HTTPResponse, by request: HTTPRequest, _ owner: RequestOwner) {
        let names =
            switch VaryField(head.headers) {
            case .nothing: [String]()
            case .anything: ["*"]
            // The download itself sets these.
            case .fields(let names): names.filter { $0 != "range" && $0 != "if-range" }
            }
        self.init(names, of: request, owner)
    }

    /// True if a request selects the same representation.
    func matches(_ request: HTTPRequest, _ owner: RequestOwner) -> Bool {
        digest != nil && self == RequestSelection(names, of: request, owner)
    }
}

extension RangeAnswer.RequestedRange {
    /// True if the response to a request may contain the other bytes of the resource.
    fileprivate func mayBeContinued(by request: HTTPRequest, _ owner: RequestOwner) -> Bool {
        guard let resource else { return true }
        guard resource.mayBeTarget(of: request) else { return false }
        guard case .lastModified? = resource.validator else { return true }
        guard let selection = resource.selection else { return hasReceived }
        return selection.jar == owner.jar && (hasReceived || selection.matches(request, owner))
    }
}

extension RemoteResource {
    /// Creates the properties of a resource from the head of a whole response. An encoded response cannot be resumed,
    /// because its length and validator belong to the encoded bytes.
    init(_ head: HTTPResponse, by request: HTTPRequest, owner: RequestOwner = RequestOwner()) {
        let isEncoded = head.headers.hasContentCoding
        self.init(
            url: Self.withoutQuery(request.url),
            validator: isEncoded ? nil : ResourceValidator(of: head),
            length: isEncoded ? nil : head.bodyLength(of: request.method),
            name: head.fileName(path: request.path)
        )
        if case .lastModified? = validator { selection = RequestSelection(head, by: request, owner) }
    }

    /// True if a request, after its redirects, may be for this resource. A validator tells the versions of one resource
    /// apart, not two resources (RFC 9110 §8.8.3). Mirrors and signed paths differ in the host or the folders, but not in
    /// the name of the file. In another folder of the same server, a date of modification says too little.
    func mayBeTarget(of request: HTTPRequest) -> Bool {
        // The path alone may begin with "//", and would be read as an authority.
        let (known, path) = (URIReference(url), URIReference(request.url).path)
        if known.path.split(separator: "/").last != path.split(separator: "/").last { return false }
        guard known.path != path, case .lastModified? = validator else { return true }
        return HTTPOrigin(scheme: known.scheme ?? "", authority: known.authority ?? "") != request.origin
    }

    static func withoutQuery(_ url: String) -> String { String(url.prefix { $0 != "?" }) }
}

// MARK: - Download plan

/// The next request of a download, chosen by the bytes that are there and the known properties of the resource.
enum DownloadPlan: Equatable {
    /// The whole resource, without a `Range`.
    case whole
    /// The beginning of the resource. The response shows if the server supports ranges.
    case probe(Range<Int64>)
    /// The bytes from an offset to the end.
    case rest(from: Int64)
    /// Several ranges in parallel.
    case segments([Range<Int64>])
    /// No request; the download is complete.
    case done

    /// Chooses the next request.
    ///
    /// - Parameters:
    ///   - resource: The known properties of the resource; nil before the first response.
    ///   - completed: The bytes that are there.
    ///   - options: The options of the download.
    ///   - hasFetched: True if this send has received a response. A file that an earlier send has completed is checked
    ///     by requesting its last byte, to find out if the resource has changed.
    ///   - isPlain: True if the resource changed during the download. Ranges are then no longer used.
    init(
        _ resource: RemoteResource?,
        _ completed: ByteRanges,
        _ options: DownloadOptions,
        hasFetched: Bool,
        isPlain: Bool
    ) {
        let length = resource?.length
        if hasFetched, let length, completed.count == length {
            self = .done
        } else if isPlain {
            self = .whole
        } else if resource?.validator == nil {
            self = options.segments > 1 ? .probe(0..<max(1, options.minimumSegment)) : .whole
        } else if let length {
            let missing = completed.missing(upTo: length)
            let spans = missing.isEmpty && length > 0 ? [length - 1..<length] : missing
            self = DownloadPlan(spans, of: length, options)
        } else {
            self = completed.prefix > 0 ? .rest(from: completed.prefix) : .whole
        }
    }

    private init(_ missing: [Range<Int64>], of length: Int64, _ options: DownloadOptions) {
        var spans = missing
        while spans.count < options.segments,
            let widest = spans.indices.max(by: { spans[$0].length < spans[$1].length }),
            spans[widest].length / 2 >= max(1, options.minimumSegment)
        {
            let span = spans[widest]
            let middle = span.lowerBound + span.length / 2
            spans.replaceSubrange(widest...widest, with: [span.lowerBound..<middle, middle..<span.upperBound])
        }
        if options.segments > 1, spans.count > 1 {
            self = .segments(Array(spans.prefix(options.segments)))
        } else if let first = spans.first {
            if first.lowerBound == 0 && first.upperBound == length {
                self = .whole
            } else if first.upperBound == length {
                self = .rest(from: first.lowerBound)
            } else {
                self = .segments([first])
            }
        } else {
            self = .whole
        }
    }
}

extension Range<Int64> {
    /// The number of bytes. `count` is an `Int`, which has 32 bits on some watches.
    fileprivate var length: Int64 { upperBound - lowerBound }
}
