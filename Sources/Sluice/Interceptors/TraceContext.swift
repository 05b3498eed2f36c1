import SluiceHTTP
import Synchronization

/// The position of an operation in a distributed trace (W3C Trace Context, level 1).
///
/// ```swift
/// if let incoming = TraceContext(traceparent: header, tracestate: state) {
///     let users = try await TraceContext.$current.withValue(incoming) {
///         try await shop.get("users", as: [User].self).sender().value
///     }
/// }
/// ```
public struct TraceContext: Sendable, Hashable {
    /// The ID of a trace: 16 bytes, not all zero.
    package struct TraceID: Sendable, Hashable {
        package let high: UInt64
        package let low: UInt64

        /// Creates an ID from its halves; nil if both are zero.
        package init?(high: UInt64, low: UInt64) {
            if high == 0 && low == 0 { return nil }
            self.high = high
            self.low = low
        }

        /// Creates an ID from random numbers. Two zeros, which are not valid, become 1.
        package init(nonZero high: UInt64, _ low: UInt64) {
            self.high = high
            self.low = high == 0 && low == 0 ? 1 : low
        }
    }

    /// The ID of an operation in a trace: 8 bytes, not all zero.
    package struct SpanID: Sendable, Hashable {
        package let rawValue: UInt64

        /// Creates an ID from a number; nil if it is zero.
        package init?(_ rawValue: UInt64) {
            if rawValue == 0 { return nil }
            self.rawValue = rawValue
        }

        package init(nonZero rawValue: UInt64) {
            self.rawValue = max(rawValue, 1)
        }
    }

    /// The context for requests sent in this task. With nil, the default, each request starts a new trace.
    @TaskLocal public static var current: TraceContext?

    package let trace: TraceID
    /// The ID of the operation that requests are part of.
    package let span: SpanID
    /// True if the trace is being recorded.
    public let isSampled: Bool
    /// The vendor-specific data of the `tracestate` header, unchanged; nil if there is none or it is not valid.
    public let traceState: String?

    /// Creates a context.
    ///
    /// - Parameters:
    ///   - traceID: The ID of the trace.
    ///   - parentID: The ID of the operation that requests are part of.
    ///   - isSampled: True if the trace is being recorded.
    ///   - traceState: The value of a `tracestate` header; dropped if it is not valid (§3.3.1).
    package init(traceID: TraceID, parentID: SpanID, isSampled: Bool = true, traceState: String? = nil) {
        let state = traceState.flatMap { TraceState.isValid($0) ? $0 : nil }
        self.init(traceID: traceID, parentID: parentID, isSampled: isSampled, validState: state)
    }

    init(traceID: TraceID, parentID: SpanID, isSampled: Bool, validState: String?) {
        trace = traceID
        span = parentID
        self.isSampled = isSampled
        traceState = validState
    }

    /// Parses the headers of an incoming request.
    ///
    /// Headers of later versions are parsed as far as this version defines them, as §4.3 requires.
    ///
    /// - Parameters:
    ///   - traceparent: The value of the `traceparent` header. The result is nil if it is not valid: an ID of zeros,
    ///     upper-case letters, another length.
    ///   - tracestate: The values of the `tracestate` headers, joined by commas. They are passed on unchanged if they
    ///     are valid.
    public init?(traceparent: String, tracestate: String? = nil) {
        let bytes = Array(traceparent.utf8)
        guard bytes.count >= 55, [2, 35, 52].allSatisfy({ bytes[$0] == UInt8(ascii: "-") }),
            let version = UInt64(hex: bytes[0..<2]), version != 0xFF,
            bytes.count == 55 || version > 0 && bytes[55] == UInt8(ascii: "-"),
            let high = UInt64(hex: bytes[3..<19]), let low = UInt64(hex: bytes[19..<35]),
            let parent = UInt64(hex: bytes[36..<52]), let flags = UInt64(hex: bytes[53..<55]),
            let traceID = TraceID(high: high, low: low), let parentID = SpanID(parent)
        else { return nil }
        self.init(traceID: traceID, parentID: parentID, isSampled: flags & 1 == 1, traceState: tracestate)
    }

    /// The ID of the trace in 32 hexadecimal digits, such as for a log.
    public var traceID: String { trace.description }
    /// The ID of the operation that requests are part of, in 16 hexadecimal digits.
    public var parentID: String { span.description }

    /// The value of a `traceparent` header in version 00, without flags that this version does not define.
    public var traceparent: String { HexText.text(length: Self.traceparentLength, write) }

    /// The length of a `traceparent` header in version 00.
    static let traceparentLength = 55

    /// Writes the value of a `traceparent` header.
    func write(to text: inout HexText) {
        text.append("00-")
        text.append(trace.high, digits: 16)
        text.append(trace.low, digits: 16)
        text.append("-")
        text.append(span.rawValue, digits: 16)
        text.append(isSampled ? "-01" : "-00")
    }
}

extension TraceContext.TraceID: CustomStringConvertible {
    /// The ID as 32 hexadecimal digits.
    package var description: String {
        HexText.text(length: 32) {
            $0.append(high, digits: 16)
            $0.append(low, digits: 16)
        }
    }
}

extension TraceContext.SpanID: CustomStringConvertible {
    /// The ID as 16 hexadecimal digits.
    package var description: String {
        HexText.text(length: 16) {
            $0.append(rawValue, digits: 16)
        }
    }
}

extension UInt64 {
    /// Parses lower-case hexadecimal digits; nil if there are other characters.
    fileprivate init?(hex bytes: ArraySlice<UInt8>) {
        var value: UInt64 = 0
        for byte in bytes {
            switch byte {
            case UInt8(ascii: "0")...UInt8(ascii: "9"): value = value << 4 | UInt64(byte - UInt8(ascii: "0"))
            case UInt8(ascii: "a")...UInt8(ascii: "f"): value = value << 4 | UInt64(byte - UInt8(ascii: "a") + 10)
            default: return nil
            }
        }
        self = value
    }
}

/// The grammar of a `tracestate` header (W3C Trace Context §3.3.1): up to 32 members, each a key and a value.
enum TraceState {
    /// Returns true if a value is valid.
    static func isValid(_ text: String) -> Bool {
        var keys: Set<Substring> = []
        var count = 0
        // Members may be empty, but not all of them.
        for element in FieldElements(text.utf8[...]) {
            let member = Substring(element)
            count += 1
            guard count <= 32, let sign = member.utf8.firstIndex(of: UInt8(ascii: "=")), isKey(member[..<sign]),
                isValue(member[sign...].dropFirst()), keys.insert(member[..<sign]).inserted
            else { return false }
        }
        return count > 0
    }

    /// Returns true for a vendor name, or a tenant and a system separated by `@`.
    private static func isKey(_ key: Substring) -> Bool {
        let parts = key.utf8.split(separator: UInt8(ascii: "@"), omittingEmptySubsequences: false).map(Substring.init)
        guard parts.count == 2 else {
            return parts.count == 1 && isName(key, limit: 256, beginsWithDigit: false)
        }
        return isName(parts[0], limit: 241, beginsWithDigit: true)
            && isName(parts[1], limit: 14, beginsWithDigit: false)
    }

    private static func isName(_ name: Substring, limit: Int, beginsWithDigit: Bool) -> Bool {
        let letters = UInt8(ascii: "a")...UInt8(ascii: "z")
        let digits = UInt8(ascii: "0")...UInt8(ascii: "9")
        guard let first = name.utf8.first, name.utf8.count <= limit else { return false }
        guard letters.contains(first) || beginsWithDigit && digits.contains(first) else { return false }
        return name.utf8.allSatisfy { letters.contains($0) || digits.contains($0) || "_-*/".utf8.contains($0) }
    }

    /// Returns true for printable ASCII without commas and equals signs, not ending with a space.
    private static func isValue(_ value: Substring) -> Bool {
        guard let last = value.utf8.last, last != 0x20, value.utf8.count <= 256 else { return false }
        return value.utf8.allSatisfy {
            (0x20...0x7E).contains($0) && $0 != UInt8(ascii: ",") && $0 != UInt8(ascii: "=")
        }
    }
}

// MARK: - Trace parent

/// Adds `traceparent` and `tracestate` (W3C Trace Context, level 1), by which tracing systems correlate requests.
///
/// ```swift
/// let shop = APIClient(baseURL: "https://shop.example") {
///     $0.requestInterceptors = [TraceParent()]
/// }
/// ```
///
/// Each attempt is an operation with a new ID in the same trace. The trace is that of ``TraceContext/current`` when the
/// request was first sent, or a new one. A request that has a `traceparent` keeps it.
public struct TraceParent: RequestAdapter {
    private let samplesNewTraces: Bool
    private let random: @Sendable () -> UInt64
    private let record: (@Sendable (_ attempt: TraceContext, _ parent: TraceContext?, RequestContext) -> Void)?

    /// Creates an adapter.
    ///
    /// - Parameters:
    ///   - samplesNewTraces: True to request recording of new traces; true by default. A continued trace keeps the flag
    ///     of its parent.
    ///   - record: Called for each attempt before it is sent, so that a tracing system can record it by its ID. It must
    ///     not block.
    ///   - random: Returns 64 bits for IDs of traces and attempts. The default generator is fast and not
    ///     cryptographically secure, which IDs do not need.
    public init(
        samplesNewTraces: Bool = true,
        record: (@Sendable (_ attempt: TraceContext, _ parent: TraceContext?, RequestContext) -> Void)? = nil,
        random: (@Sendable () -> UInt64)? = nil
    ) {
        self.samplesNewTraces = samplesNewTraces
        self.random = random ?? IDGenerator.shared.next
        self.record = record
    }

    /// Adds the headers.
    ///
    /// - Parameters:
    ///   - request: The request to change.
    ///   - context: The context, which keeps a new trace for all attempts.
    public func adapt(_ request: inout HTTPRequest, context: RequestContext) {
        if request.headers.contains("traceparent") { return }
        // A later attempt may run in another task, without the task-local values of the first.
        let trace = context.call.trace {
            let parent = TraceContext.current
            let id = parent?.trace ?? newTraceID()
            return CallTrace(high: id.high, low: id.low, parent: parent)
        }
        let parent = trace.parent as? TraceContext
        let attempt = TraceContext(
            traceID: TraceContext.TraceID(nonZero: trace.high, trace.low),
            parentID: newSpanID(),
            isSampled: parent?.isSampled ?? samplesNewTraces,
            validState: parent?.traceState
        )
        request.headers.append("traceparent", length: TraceContext.traceparentLength, attempt.write)
        if let state = attempt.traceState, !request.headers.contains("tracestate") {
            request.headers.append("tracestate", state)
        }
        record?(attempt, parent, context)
    }

    private func newTraceID() -> TraceContext.TraceID {
        TraceContext.TraceID(nonZero: random(), random())
    }

    private func newSpanID() -> TraceContext.SpanID {
        TraceContext.SpanID(nonZero: random())
    }
}

/// A fast generator of pseudorandom numbers for IDs: a few nanoseconds per number, without a system call.
///
/// SplitMix64: a counter with an odd step, which does not repeat within 2^64 calls, and an invertible function that
/// mixes its bits. The counter starts at a random number from the system.
package final class IDGenerator: Sendable {
    package static let shared = IDGenerator()

    private let counter = Atomic<UInt64>(.random(in: .min ... .max))

    private init() {}

    /// Returns the next number.
    @Sendable package func next() -> UInt64 {
        var bits = counter.wrappingAdd(0x9E37_79B9_7F4A_7C15, ordering: .relaxed).newValue
        bits = (bits ^ (bits >> 30)) &* 0xBF58_476D_1CE4_E5B9
        bits = (bits ^ (bits >> 27)) &* 0x94D0_49BB_1331_11EB
        return bits ^ (bits >> 31)
    }
}
