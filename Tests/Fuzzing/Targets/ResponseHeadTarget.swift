@testable import SluiceHTTP

#if canImport(SluiceCurl)
@testable import SluiceCurl
#endif

extension FuzzTarget {
    /// Lines as libcurl hands them out: a head is what a parser of a few lines makes of them, and the limit is kept to the byte.
    static let responseHead = FuzzTarget("response-head") { bytes in
        #if canImport(SluiceCurl)
        var parser = ResponseHeadParser()
        var limited = ResponseHeadParser()
        var reference = ReferenceHead()
        let limit = bytes.count / 2
        var count = 0
        var isOver = false
        for line in linesWithEnds(of: bytes) {
            let wasComplete = parser.isComplete
            let step = parser.parse(line, limit: .max)
            if step == .malformed { return }
            if !wasComplete { reference.take(Array(line)) }
            try promise(step != .tooLarge, "A head is too large for no limit.")
            try promise((step == .complete) == parser.isComplete, "A parser is not as complete as it says.")
            try promise(!wasComplete || step == .complete, "A head that was complete is so no more.")
            count += line.count
            if !limited.isComplete, !isOver {
                isOver = limited.parse(line, limit: limit) == .tooLarge
                try promise(isOver == (count > limit), "The limit of \(limit) bytes is not kept with \(count).")
            }
        }
        try promise(parser.isComplete == reference.isComplete, "A head ends elsewhere.")
        guard let head = parser.head else { return }
        try checkStorage(of: head.headers)
        try promise(head.status.rawValue == reference.status, "A head has the status \(head.status).")
        let fields = head.headers.indices.map { index in
            let line = head.headers.line(at: index)
            let name = head.headers.bytes[line.offset..<(line.offset + line.nameLength)]
            return [Array(name), Array(head.headers.bytes[(line.offset + line.nameLength + 2)..<line.end])]
        }
        try promise(fields == reference.fields, "A head has other fields.")
        #endif
    }

    private static func linesWithEnds(of bytes: UnsafeRawBufferPointer) -> [UnsafeRawBufferPointer] {
        var lines: [UnsafeRawBufferPointer] = []
        var start = 0
        while start < bytes.count {
            let end = bytes[start...].firstIndex(of: 10).map { $0 + 1 } ?? bytes.count
            lines.append(UnsafeRawBufferPointer(rebasing: bytes[start..<end]))
            start = end
        }
        return lines
    }
}

/// Reads a head the plain way.
private struct ReferenceHead {
    var status = 0
    var fields: [[[UInt8]]] = []
    var isComplete = false

    mutating func take(_ line: [UInt8]) {
        let text = trimmed(line[...], of: [10, 13], atStart: false)
        if text.isEmpty {
            isComplete = status != 0 && (status == 101 || status / 100 != 1)
        } else if text.starts(with: "HTTP/".utf8) {
            fields = []
            let words = text.split(separator: 32, maxSplits: 1, omittingEmptySubsequences: false)
            let digits = words.count < 2 ? [] : Array(words[1].drop { $0 == 32 }.prefix(3))
            let isNumber = digits.count == 3 && digits.allSatisfy { (48...57).contains($0) }
            status = isNumber ? digits.reduce(0) { $0 * 10 + Int($1) - 48 } : 0
        } else if text[0] == 32 || text[0] == 9 {
            let more = trimmed(text[...], of: [32, 9])
            guard let value = fields.last?[1], !more.isEmpty else { return }
            fields[fields.count - 1][1] = value.isEmpty ? more : value + [32] + more
        } else if let colon = text.firstIndex(of: 58), colon > 0 {
            fields.append([trimmed(text[..<colon], of: [32, 9]), trimmed(text[(colon + 1)...], of: [32, 9])])
        }
    }

    private func trimmed(_ text: ArraySlice<UInt8>, of blanks: [UInt8], atStart: Bool = true) -> [UInt8] {
        var text = atStart ? text.drop(while: blanks.contains) : text
        while let last = text.last, blanks.contains(last) { text.removeLast() }
        return Array(text)
    }
}
