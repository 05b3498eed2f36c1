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
            let widest = spans.indices.max(by: { spans[$0].count < spans[$1].count }),
            spans[widest].count / 2 >= max(1, options.minimumSegment)
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
