#if os(Linux)
import SluiceHTTP

/// The fields of one head that determine the end of its body and the reuse of the connection (RFC 9112 §6 and §9.3).
struct ResponseFraming {
    private enum Coding: UInt8 {
        case none, chunked, other
    }

    private var contentLength: Int64?
    private var isLengthMalformed = false
    private var coding = Coding.none
    private var hasClose = false
    private var hasKeepAlive = false

    /// Records a field if it is `Connection`, `Content-Length` or `Transfer-Encoding`.
    @inline(__always)
    mutating func record(_ field: FieldLine) {
        switch field.name.count {
        case 10 where field.name.isName("connection"): recordConnection(field.value)
        case 14 where field.name.isName("content-length"): recordLength(field.value)
        case 17 where field.name.isName("transfer-encoding"):
            coding = coding == .none && field.value.isName("chunked") ? .chunked : .other
        default: break
        }
    }

    /// Checks the length fields of a response that never has a body: informational, 204, 304, or a response to HEAD.
    func checkContentLength() throws(ResponseSyntaxError) {
        if isLengthMalformed { throw .malformedLength }
    }

    /// Returns the body length of a response that can have a body (RFC 9112 §6.3).
    func length(isHTTP10: Bool) throws(ResponseSyntaxError) -> ResponseParser.Length {
        if isLengthMalformed { throw .malformedLength }
        switch coding {
        case .other:
            throw .unsupportedTransferCoding
        case .chunked:
            if isHTTP10 || contentLength != nil { throw .ambiguousLength }
            return .chunked
        case .none:
            return contentLength.map { .exactly($0) } ?? .untilClose
        }
    }

    /// Returns true if the server keeps the connection open (RFC 9112 §9.3) and the end of the response is unambiguous.
    func keepsOpen(isHTTP10: Bool, status: Int) -> Bool {
        if hasClose || (isHTTP10 && !hasKeepAlive) { return false }
        if coding != .none, isHTTP10 || contentLength != nil { return false }
        // RFC 9110 §8.6 and RFC 9112 §6.1 forbid both fields in a 204 response. A server that sends one may also send a body.
        return status != 204 || (coding == .none && contentLength ?? 0 == 0)
    }

    /// Parses a Content-Length value, or a list of values. All values of all lines must be the same number (RFC 9110 §8.6).
    private mutating func recordLength(_ value: UnsafeRawBufferPointer) {
        value.forEachListElement { element in
            guard let number = element.decimalNumber(), contentLength ?? number == number else {
                isLengthMalformed = true
                return
            }
            contentLength = number
        }
    }

    private mutating func recordConnection(_ value: UnsafeRawBufferPointer) {
        value.forEachListElement { element in
            if element.isName("close") {
                hasClose = true
            } else if element.isName("keep-alive") {
                hasKeepAlive = true
            }
        }
    }
}

extension UnsafeRawBufferPointer {
    /// Calls `body` with each element between commas, without surrounding white space. Empty elements are included.
    fileprivate func forEachListElement(_ body: (UnsafeRawBufferPointer) -> Void) {
        var start = 0
        while true {
            var comma = start
            while comma < count, self[comma] != UInt8(ascii: ",") { comma += 1 }
            body(UnsafeRawBufferPointer(rebasing: self[start..<comma]).trimmed)
            guard comma < count else { return }
            start = comma + 1
        }
    }
}
#endif
