import SluiceHTTP

/// What a response's head means to a download that had asked for bytes of a resource (RFC 9110 §14, §15.3.7, §15.5.17).
enum RangeAnswer: Equatable {
    /// These bytes of the resource, of the version that was asked for.
    case part(Range<Int64>, of: RemoteResource)
    /// The resource from its first byte, whatever is there of another.
    case whole(RemoteResource)
    /// Another version than what is there is of, or one of which the server gives no ranges: it has to be asked for as a whole.
    case changed
    /// What is there is the whole of it.
    case complete
    /// A server that is not to be believed, and why.
    case refused(String)
    /// Nothing that goes into a file.
    case other

    /// What was asked for.
    struct Question: Equatable {
        /// Nil for the whole.
        var first: Int64?
        /// Nil for all behind the first.
        var end: Int64?
        /// What is known of the resource; nil where nothing is.
        var resource: RemoteResource?
        /// How many bytes of it are there.
        var completed: Int64 = 0
    }

    /// Reads a head.
    ///
    /// - Parameters:
    ///   - head: The response's.
    ///   - question: What it answers.
    ///   - request: The request it answers, after redirects.
    init(_ head: HTTPResponse, to question: Question, by request: HTTPRequest) {
        switch head.status {
        case .partialContent:
            self = Self.partial(head, question, request)
        case 416 where question.first != nil:
            let length = head.headers[.contentRange].flatMap(ContentRange.init)?.length
            let isWhole = length == question.completed && length == question.resource?.length ?? length
            self = isWhole ? .complete : .changed
        case let status where status.class == .success:
            let isSegment = question.end != nil && question.resource != nil
            self = isSegment ? .changed : .whole(RemoteResource(head, by: request))
        default:
            self = .other
        }
    }

    private static func partial(_ head: HTTPResponse, _ question: Question, _ request: HTTPRequest) -> RangeAnswer {
        guard let first = question.first else { return .refused("it sent a part where the whole was asked for") }
        guard let field = head.headers[.contentRange].flatMap(ContentRange.init), let range = field.range else {
            return .refused("it sent a part and did not say which")
        }
        guard range.lowerBound == first, range.upperBound <= question.end ?? .max else {
            return .refused("it sent other bytes than were asked for")
        }
        // A range of what has been encoded is no range of the file.
        if head.headers.contains(.contentEncoding) { return .changed }
        guard var resource = question.resource else {
            var resource = RemoteResource(head, by: request)
            resource.length = field.length
            return resource.validator == nil || resource.length == nil ? .changed : .part(range, of: resource)
        }
        if resource.validator?.matches(head) == false { return .changed }
        if let known = resource.length, let length = field.length, known != length { return .changed }
        resource.length = resource.length ?? field.length
        return .part(range, of: resource)
    }
}

extension RemoteResource {
    /// What the head of a whole response says of it. An encoded one cannot be resumed: its length and its validator are of what
    /// travelled.
    init(_ head: HTTPResponse, by request: HTTPRequest) {
        let isEncoded = head.headers.contains(.contentEncoding)
        self.init(
            url: request.url,
            validator: isEncoded ? nil : ResourceValidator(of: head),
            length: isEncoded ? nil : head.bodyLength(of: request.method),
            name: head.suggestedFileName(path: request.path)
        )
    }
}

extension HTTPHeaderName {
    static let contentRange: Self = "Content-Range"
    static let range: Self = "Range"
    static let ifRange: Self = "If-Range"
}
