/// Where in a distributed trace a piece of work belongs (W3C Trace Context, level 1).
///
/// ```swift
/// if let incoming = TraceContext(traceparent: header, tracestate: state) {
///     try await TraceContext.$current.withValue(incoming) { try await shop.get("users").sender().value }
/// }
/// ```
public struct TraceContext: Sendable, Hashable {
    /// 16 bytes that name the trace, not all of them zero.
    public struct TraceID: Sendable, Hashable {
        let high: UInt64
        let low: UInt64

        /// Makes an ID of its halves; nil if both are zero.
        public init?(high: UInt64, low: UInt64) {
            if high == 0 && low == 0 { return nil }
            self.high = high
            self.low = low
        }

        /// Of random numbers, which may be the one that is no ID.
        init(nonZero high: UInt64, _ low: UInt64) {
            self.high = high
            self.low = high == 0 && low == 0 ? 1 : low
        }
    }

    /// 8 bytes that name one piece of work in the trace, not all of them zero.
    public struct SpanID: Sendable, Hashable {
        let rawValue: UInt64

        /// Makes an ID of a number; nil of zero.
        public init?(_ rawValue: UInt64) {
            if rawValue == 0 { return nil }
            self.rawValue = rawValue
        }

        init(nonZero rawValue: UInt64) {
            self.rawValue = max(rawValue, 1)
        }
    }

    /// The context that requests sent in this task carry on; nil, the default, where each begins a trace of its own.
    @TaskLocal public static var current: TraceContext?

    /// The trace.
    public let traceID: TraceID
    /// The piece of work that requests are part of.
    public let parentID: SpanID
    /// Whether the trace is being recorded.
    public let isSampled: Bool
    /// What tracing systems have to say to each other, as it came; nil where there is nothing or it is not valid.
    public let traceState: String?

    /// Makes a context.
    ///
    /// - Parameters:
    ///   - traceID: The trace.
    ///   - parentID: The piece of work that requests are part of.
    ///   - isSampled: Whether the trace is being recorded.
    ///   - traceState: The value of a `tracestate` header; dropped if it is not valid (§3.3.1).
    public init(traceID: TraceID, parentID: SpanID, isSampled: Bool = true, traceState: String? = nil) {
        let state = traceState.flatMap { TraceState.isValid($0) ? $0 : nil }
        self.init(traceID: traceID, parentID: parentID, isSampled: isSampled, validState: state)
    }

    init(traceID: TraceID, parentID: SpanID, isSampled: Bool, validState: String?) {
        self.traceID = traceID
        self.parentID = parentID
        self.isSampled = isSampled
        traceState = validState
    }

    /// Reads the headers of a request that came in.
    ///
    /// Versions to come are read as far as this one goes, as §4.3 has it.
    ///
    /// - Parameters:
    ///   - traceparent: The value of the `traceparent` header; nil comes of one that is not valid: IDs of zeros, capital
    ///     letters, another length.
    ///   - tracestate: The values of the `tracestate` headers, joined by commas; passed on as they are, unless they are not
    ///     valid.
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

    /// The value of a `traceparent` header, in version 00; flags that version does not know are left out.
    public var traceparent: String {
        HexText.text(length: 55) {
            $0.append("00-")
            $0.append(traceID.high, digits: 16)
            $0.append(traceID.low, digits: 16)
            $0.append("-")
            $0.append(parentID.rawValue, digits: 16)
            $0.append(isSampled ? "-01" : "-00")
        }
    }
}

extension TraceContext.TraceID: CustomStringConvertible {
    /// 32 digits in base 16.
    public var description: String {
        HexText.text(length: 32) {
            $0.append(high, digits: 16)
            $0.append(low, digits: 16)
        }
    }
}

extension TraceContext.SpanID: CustomStringConvertible {
    /// 16 digits in base 16.
    public var description: String {
        HexText.text(length: 16) {
            $0.append(rawValue, digits: 16)
        }
    }
}

extension UInt64 {
    /// A number of digits in base 16, small letters only; nil if there are others.
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
