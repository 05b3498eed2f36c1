/// The spans that wait for their export, limited in number and bytes.
struct SpanQueue: Sendable {
    /// Spans that are exported together.
    struct Batch: Sendable, Equatable {
        var spans: [SpanRecord] = []
        var bytes = 0
    }

    private let maximumCount: Int
    private let maximumBytes: Int
    private let batchCount: Int
    private let batchBytes: Int
    private var waiting: [SpanRecord] = []
    /// The index of the first span that waits. Those before it have been taken.
    private var head = 0
    private(set) var bytes = 0
    /// The number of spans for which there was no room.
    private(set) var dropped = 0

    init(maximumCount: Int, maximumBytes: Int, batchCount: Int, batchBytes: Int) {
        self.maximumCount = max(0, maximumCount)
        self.maximumBytes = max(0, maximumBytes)
        self.batchCount = max(1, batchCount)
        self.batchBytes = max(1, batchBytes)
    }

    var count: Int { waiting.count - head }
    /// True if a whole batch waits.
    var hasBatch: Bool { count >= batchCount || bytes >= batchBytes }

    /// Adds a span, or drops it if the queue is full: those that wait are older, and were promised first.
    mutating func append(_ span: SpanRecord) {
        let size = span.size
        guard count < maximumCount, bytes + size <= maximumBytes else {
            dropped += 1
            return
        }
        waiting.append(span)
        bytes += size
    }

    /// Removes and returns the oldest spans; nil if none wait. A batch has at least one, however large.
    mutating func take() -> Batch? {
        var batch = Batch()
        while head < waiting.count, batch.spans.count < batchCount {
            let size = waiting[head].size
            if !batch.spans.isEmpty, batch.bytes + size > batchBytes { break }
            batch.spans.append(waiting[head])
            batch.bytes += size
            head += 1
        }
        bytes -= batch.bytes
        if head == waiting.count || head >= 1024 {
            waiting.removeFirst(head)
            head = 0
        }
        return batch.spans.isEmpty ? nil : batch
    }

    /// Puts a batch back in front. The newest spans make room for it.
    mutating func restore(_ batch: Batch) {
        waiting.replaceSubrange(0..<head, with: batch.spans)
        head = 0
        bytes += batch.bytes
        while count > maximumCount || bytes > maximumBytes, let last = waiting.popLast() {
            bytes -= last.size
            dropped += 1
        }
    }
}
