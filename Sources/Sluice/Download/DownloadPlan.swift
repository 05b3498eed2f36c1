/// What a download asks for next, by what it knows and has.
enum DownloadPlan: Equatable {
    /// The resource from its first byte, without a `Range`.
    case whole
    /// Its beginning, which shows whether the server gives ranges of it.
    case probe(Range<Int64>)
    /// From a byte to the end.
    case rest(from: Int64)
    /// Several ranges at once.
    case segments([Range<Int64>])
    /// Nothing.
    case done

    /// What to ask for.
    ///
    /// - Parameters:
    ///   - resource: What is known of the resource; nil before the first response.
    ///   - completed: What is there.
    ///   - options: How it may be shared.
    ///   - hasFetched: Whether this send has asked for anything yet; what an earlier one left as whole is asked for once
    ///     more, by its last byte, to learn whether it is still the same.
    ///   - isPlain: Whether ranges have turned out to be of no use.
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
            let widest = spans.indices.max(by: { spans[$0].count < spans[$1].count }),
            spans[widest].count >= 2 * max(1, options.minimumSegment)
        {
            let span = spans[widest]
            let middle = span.lowerBound + Int64(span.count / 2)
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
