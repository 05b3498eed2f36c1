#if os(Linux)
import CCurl
import Glibc
import SluiceHTTP

/// The header list libcurl sends, laid over a copy of the request's fields so that no line is allocated by itself.
///
/// Lives on the engine's thread; libcurl reads it for as long as the transfer runs.
final class HeaderList {
    private var nodes: UnsafeMutableBufferPointer<curl_slist> = .allocate(capacity: 16)
    private var bytes: UnsafeMutableBufferPointer<CChar> = .allocate(capacity: 1024)
    private var count = 0
    private var used = 0

    deinit {
        nodes.deallocate()
        bytes.deallocate()
    }

    var head: UnsafeMutablePointer<curl_slist>? { count == 0 ? nil : nodes.baseAddress }

    /// Takes the fields of a request; framing is libcurl's own business, and asking before a body is sent too.
    func set(_ headers: HTTPHeaders, suppressing suppressed: [StaticString], omittingExpect: Bool = false) {
        count = 0
        used = 0
        let size = suppressed.reduce(headers.bytes.count) { $0 + $1.utf8CodeUnitCount + 2 }
        reserve(lines: headers.count + suppressed.count, bytes: size)
        headers.bytes.withUnsafeBytes { fields in
            for index in headers.indices {
                let line = headers.line(at: index)
                let name = UnsafeRawBufferPointer(rebasing: fields[line.offset..<line.offset + line.nameLength])
                if name.isFraming || omittingExpect && name.isExpect { continue }
                // A name with a colon and nothing behind it would take the field away; a semicolon sends it empty.
                let isEmpty = line.isValueEmpty
                let end = isEmpty ? line.offset + line.nameLength : line.end
                add(UnsafeRawBufferPointer(rebasing: fields[line.offset..<end]), isEmpty ? ";" : "")
            }
        }
        for name in suppressed {
            add(UnsafeRawBufferPointer(start: name.utf8Start, count: name.utf8CodeUnitCount), ":")
        }
    }

    private func add(_ text: UnsafeRawBufferPointer, _ suffix: StaticString) {
        guard let start = bytes.baseAddress.map({ $0 + used }), let node = nodes.baseAddress.map({ $0 + count }) else {
            return
        }
        if let source = text.baseAddress { memcpy(start, source, text.count) }
        memcpy(start + text.count, suffix.utf8Start, suffix.utf8CodeUnitCount)
        let length = text.count + suffix.utf8CodeUnitCount
        start[length] = 0
        used += length + 1
        node.initialize(to: curl_slist(data: start, next: nil))
        if count > 0 { nodes[count - 1].next = node }
        count += 1
    }

    private func reserve(lines: Int, bytes size: Int) {
        if lines > nodes.count {
            nodes.deallocate()
            nodes = .allocate(capacity: lines * 2)
        }
        if size > bytes.count {
            bytes.deallocate()
            bytes = .allocate(capacity: size * 2)
        }
    }
}

extension UnsafeRawBufferPointer {
    /// Whether the name is that of a field that says how long the body is.
    fileprivate var isFraming: Bool {
        equals("content-length") || equals("transfer-encoding")
    }

    fileprivate var isExpect: Bool { equals("expect") }

    private func equals(_ name: StaticString) -> Bool {
        count == name.utf8CodeUnitCount
            && name.withUTF8Buffer { elementsEqual($0) { $0.asciiLowercased == $1 } }
    }
}
#endif
