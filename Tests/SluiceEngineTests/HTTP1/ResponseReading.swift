#if os(Linux)
import SluiceHTTP
import Testing

@testable import SluiceEngine

/// A response read to its end from pieces, as a connection reads it. Each event is a line of text. Adjacent pieces of the body
/// form one event, so that different cuts of the same bytes can be compared.
struct ResponseReading {
    private(set) var events: [String] = []
    private(set) var parser: ResponseParser
    /// The number of bytes after the end of the message.
    private(set) var rest = 0
    /// The maximum number of bytes that had to be prepended to the next piece.
    private(set) var longestLeftover = 0
    /// The number of calls of `next`.
    private(set) var calls = 0

    private var body: [UInt8]?
    private var leftover: [UInt8] = []
    private var isOver = false

    /// Reads `bytes`, cut before the offsets `cuts`. Then the connection closes, if requested.
    init(
        _ bytes: some Collection<UInt8>,
        cutAt cuts: [Int] = [],
        to method: HTTPMethod = .get,
        limit: Int = 4096,
        thenClose: Bool = true
    ) {
        parser = ResponseParser(for: method, headLimit: limit)
        let bytes = Array(bytes)
        var start = 0
        for end in cuts + [bytes.count] {
            feed(bytes[start..<end])
            start = end
        }
        if thenClose, !isOver { note(parser.finish()) }
        flush()
    }

    init(_ text: String, to method: HTTPMethod = .get, limit: Int = 4096, thenClose: Bool = true) {
        self.init(text.utf8, to: method, limit: limit, thenClose: thenClose)
    }

    /// The event for a failure.
    static func failed(_ flaw: ResponseSyntaxError) -> String {
        "failed \(flaw.error.code): \(flaw.error.reason)"
    }

    static func text(of headers: HTTPHeaders) -> String {
        headers.map { "\($0.name.rawValue): \($0.value)" }.joined(separator: " | ")
    }

    private mutating func feed(_ piece: ArraySlice<UInt8>) {
        guard !isOver else {
            rest += piece.count
            return
        }
        let input = leftover + piece
        var position = 0
        var wantsMore = false
        input.withUnsafeBytes { input in
            while !isOver, !wantsMore {
                calls += 1
                let start = position
                let event = parser.next(in: input, from: &position)
                #expect(position >= start && position <= input.count, "The position is outside the input.")
                switch event {
                case .needsMore:
                    wantsMore = true
                case .body(let range):
                    #expect(range.lowerBound >= start && range.upperBound == position && !range.isEmpty)
                    body = (body ?? []) + input[range]
                default:
                    note(event)
                }
            }
        }
        if isOver {
            rest = input.count - position
        } else {
            leftover = Array(input[position...])
            longestLeftover = max(longestLeftover, leftover.count)
        }
    }

    private mutating func note(_ event: ResponseParser.Event) {
        flush()
        switch event {
        case .informational(let head): events.append("informational \(Self.text(of: head))")
        case .head(let head): events.append("head \(Self.text(of: head))")
        case .end:
            events.append("end")
            isOver = true
        case .failed(let error):
            events.append("failed \(error.code): \(error.reason)")
            isOver = true
        case .needsMore, .body: break
        }
    }

    private mutating func flush() {
        if let body { events.append("body \(String(decoding: body, as: UTF8.self))") }
        body = nil
    }

    private static func text(of head: HTTPResponse) -> String {
        let fields = text(of: head.headers)
        return "\(head.version) \(head.status)" + (fields.isEmpty ? "" : " \(fields)")
    }
}
#endif
