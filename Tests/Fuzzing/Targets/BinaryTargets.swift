@testable import Sluice
@testable import SluiceCache
@testable import SluiceHTTP
@testable import SluiceJSON

#if canImport(FoundationEssentials)
import FoundationEssentials
#else
import Foundation
#endif

extension FuzzTarget {
    /// Parses the first bytes of a file. An image has a size, which more bytes do not change.
    static let image = FuzzTarget("image") { bytes in
        let data = Data(bytes)
        guard let image = try? ImageFile(data: data) else { return }
        try promise(image.width > 0 && image.height > 0, "An image has no pixels.")
        let slice = (Data([0xFF, 0xD8]) + data + Data(repeating: 0xFF, count: 40)).dropFirst(2)
        let longer = try ImageFile(data: slice)
        try promise(longer.width == image.width && longer.height == image.height, "A longer file is of another size.")
        try promise(longer.format == image.format, "A longer file is of another format.")
    }

    /// Parses a charset label, and after the first line a text. Invalid bytes are reported at their offset, and no byte is lost.
    static let charset = FuzzTarget("charset") { bytes in
        var input = FuzzInput(bytes)
        let label = input.line()
        let body = input.data
        guard let charset = Charset(label: label) else {
            try promise(Charset(label: " \(label)\t") == nil, "A label with blanks around it is another.")
            return
        }
        try promise(Charset(label: " \(label.uppercased())\n") == charset, "A label in capitals is another.")
        let shifted = Data([0xEF, 0xBB, 0xBF]) + body
        do {
            let text = try charset.decode(body, from: 0)
            try promise((try? charset.decode(shifted, from: 3)) == text, "From an offset on it is another text.")
            switch charset.decoder {
            case .utf8: try promise(Array(text.utf8) == Array(body), "A text in UTF-8 is another.")
            case .utf16: try promise(text.utf16.count * 2 == body.count, "Half a text is read.")
            case .windows1252: try promise(text.unicodeScalars.count == body.count, "A byte is no character.")
            case .iconv: break
            }
        } catch let error as TextFailure {
            try promise((0...body.count).contains(error.offset ?? 0), "A failure is told behind the end.")
            try promise(charset.decoder != .windows1252, "A byte is no character.")
            if charset.decoder == .utf8 {
                try promise(String(validating: body, as: UTF8.self) == nil, "A text in UTF-8 is refused.")
                let valid = body.prefix(error.offset ?? 0)
                try promise(
                    String(validating: valid, as: UTF8.self) != nil,
                    "It is wrong before the place that is told."
                )
            }
        }
    }

    /// Parses the head of a cache entry on disk. Writing and reading it again gives the same head.
    static let entryHead = FuzzTarget("entry-head") { bytes in
        guard let head = EntryHead(bytes) else { return }
        let written = head.encoded
        guard let again = written.withUnsafeBytes({ EntryHead($0) }) else {
            throw BrokenPromise(description: "What has been written cannot be read.")
        }
        let dates = { (head: EntryHead) in
            [head.stored, head.response?.requested, head.response?.received].map {
                $0?.timeIntervalSinceReferenceDate.bitPattern
            }
        }
        try promise(dates(again) == dates(head), "It has other dates.")
        try promise(again.renewal == head.renewal && again.tags == head.tags, "It has other tags.")
        try promise(again.response?.url == head.response?.url, "It has another URL.")
        try promise(again.response?.identity == head.response?.identity, "It is for another.")
        try promise(again.response?.part?.range == head.response?.part?.range, "It is of another part.")
        try promise(again.response?.head.status == head.response?.head.status, "It has another status.")
        try promise(again.response?.head.headers == head.response?.head.headers, "It has other fields.")
        if let headers = head.response?.head.headers { try checkStorage(of: headers) }
    }

    /// Parses a value of the cache on disk. Bytes that are not a value are rejected.
    static let keptValue = FuzzTarget("kept-value") { bytes in
        let coding = ValueCoding(name: "key")
        let body = Data(bytes)
        let slice = (Data([1, 2]) + body).dropFirst(2)
        if let text = try? coding.decode(String.self, from: slice) {
            try promise(
                try coding.decode(String.self, from: coding.encode(text))?.isSame(as: text) == true,
                "A text is lost."
            )
        }
        if let json = try? coding.decode(JSON.self, from: slice) {
            try promise(try coding.decode(JSON.self, from: coding.encode(json)) == json, "A value is lost.")
        }
        _ = try? coding.decode([Double?].self, from: slice)
        try promise(try coding.decode(Data.self, from: coding.encode(body)) == body, "Bytes are others.")
        try promise((try? coding.decode(Int.self, from: coding.encode(body))) == nil, "Bytes are a number.")
        try promise(
            try coding.decode(Data?.self, from: coding.encode(Data?.none)) == .some(nil),
            "There is something of nil."
        )
    }

    /// Parses the JSON journal of a partial download, and compares sets of byte ranges with a plain list.
    static let partJournal = FuzzTarget("part-journal") { bytes in
        let data = Data(bytes)
        if let journal = try? JSONDecoder().decode(PartialDownloadJournal.self, from: data) {
            let again = try JSONDecoder().decode(PartialDownloadJournal.self, from: JSONEncoder().encode(journal))
            try promise(again == journal, "A journal is read as another.")
            for length in [0, 100, Int64.max] {
                for boot in [journal.bootID, "another", nil] {
                    let trusted = journal.trusted(partLength: length, bootID: boot)
                    try promise(trusted?.end ?? 0 <= length, "More is trusted than there is.")
                }
            }
        }
        try checkRanges(Array(bytes))
    }

    private static func checkRanges(_ bytes: [UInt8]) throws {
        var ranges = ByteRanges()
        var isThere = [Bool](repeating: false, count: 512)
        for index in stride(from: 0, to: min(bytes.count, 128) - 1, by: 2) {
            let start = Int(bytes[index])
            let range = start..<(start + Int(bytes[index + 1]))
            for place in range { isThere[place] = true }
            ranges.insert(Int64(range.lowerBound)..<Int64(range.upperBound))
            try promise(ranges.contains(Int64(range.lowerBound)..<Int64(range.upperBound)), "What is there is not.")
        }
        try promise(ranges.count == Int64(isThere.count { $0 }), "There are \(ranges.count) bytes.")
        try promise(ranges.prefix == Int64(isThere.prefix { $0 }.count), "It begins with \(ranges.prefix) bytes.")
        let ends = zip(ranges.ranges, ranges.ranges.dropFirst())
        try promise(ends.allSatisfy { $0.upperBound < $1.lowerBound }, "Ranges touch.")
        let missing = ranges.missing(upTo: 300).flatMap { Array($0) }
        try promise(missing == (0..<300).filter { !isThere[Int($0)] }.map { Int64($0) }, "Others are missing.")
    }
}
