import SluiceHTTP

#if canImport(Glibc)
import Glibc
#elseif canImport(Musl)
import Musl
#else
import Darwin
#endif

/// The state of an event whose lines are still arriving, and of its stream.
struct EventAssembly: Sendable {
    private(set) var lastEventID: String
    private(set) var reconnectionTime: Duration?
    private(set) var isOverLimit = false
    private let limit: Int
    private var type = ""
    /// The values of all data fields, each followed by a line feed.
    private var data: [UInt8] = []
    /// The last event ID that takes effect when this event ends.
    private var id: String
    private var retry: Duration?
    private var isFirstLine = true

    init(lastEventID: String, limit: Int) {
        self.lastEventID = lastEventID
        self.limit = limit
        id = lastEventID
    }

    /// Processes a line without its line ending. Returns the event if the line completes one.
    mutating func take(_ line: UnsafeRawBufferPointer) -> ServerSentEvent? {
        var line = line
        if isFirstLine {
            isFirstLine = false
            if line.starts(with: [0xEF, 0xBB, 0xBF]) { line = UnsafeRawBufferPointer(rebasing: line.dropFirst(3)) }
        }
        if line.isEmpty { return dispatched() }
        let colon = line.firstIndex(of: UInt8(ascii: ":"), from: 0)
        guard colon > 0 else { return nil }
        var value = UnsafeRawBufferPointer(rebasing: line[min(colon + 1, line.count)...])
        if value.first == UInt8(ascii: " ") { value = UnsafeRawBufferPointer(rebasing: value.dropFirst()) }
        take(UnsafeRawBufferPointer(rebasing: line[..<colon]), value)
        return nil
    }

    private mutating func take(_ name: UnsafeRawBufferPointer, _ value: UnsafeRawBufferPointer) {
        if name.isText("data") {
            if data.count + value.count > limit { return isOverLimit = true }
            data.append(contentsOf: value)
            data.append(10)
        } else if name.isText("event") {
            type = String(decoding: value, as: UTF8.self)
        } else if name.isText("id") {
            if value.firstIndex(of: 0, from: 0) == value.count { id = String(decoding: value, as: UTF8.self) }
        } else if name.isText("retry") {
            guard let milliseconds = value.milliseconds else { return }
            retry = .milliseconds(milliseconds)
            reconnectionTime = retry
        }
    }

    private mutating func dispatched() -> ServerSentEvent? {
        lastEventID = id
        defer {
            type = ""
            retry = nil
        }
        guard !data.isEmpty else { return nil }
        defer { data.removeAll(keepingCapacity: true) }
        return ServerSentEvent(
            type: type.isEmpty ? "message" : type,
            data: String(decoding: data.dropLast(), as: UTF8.self),
            lastEventID: id,
            retry: retry
        )
    }
}

extension UnsafeRawBufferPointer {
    fileprivate func isText(_ text: StaticString) -> Bool {
        guard count == text.utf8CodeUnitCount, let start = baseAddress else { return false }
        return memcmp(start, text.utf8Start, count) == 0
    }

    /// A number written in decimal digits only, or nil. A number that does not fit becomes `Int64.max`.
    fileprivate var milliseconds: Int64? {
        guard !isEmpty, allSatisfy({ (UInt8(ascii: "0")...UInt8(ascii: "9")).contains($0) }) else { return nil }
        return Int64(String(decoding: self, as: UTF8.self)) ?? .max
    }
}
