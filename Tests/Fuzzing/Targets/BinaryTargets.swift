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
        try require(image.width > 0 && image.height > 0, "An image has no pixels.")
        let slice = (Data([0xFF, 0xD8]) + data + Data(repeating: 0xFF, count: 40)).dropFirst(2)
        let longer = try ImageFile(data: slice)
        try require(longer.width == image.width && longer.height == image.height, "Appended bytes change the size.")
        try require(longer.format == image.format, "Appended bytes change the format.")
    }

    /// Parses a charset label, and after the first line a text. Invalid bytes are reported at their offset, and no byte is lost.
    static let charset = FuzzTarget("charset") { bytes in
        var input = FuzzInput(bytes)
        let label = input.line()
        let body = input.data
        guard let charset = Charset(label: label) else {
            try require(Charset(label: " \(label)\t") == nil, "White space makes the label valid.")
            return
        }
        try require(
            Charset(label: " \(label.uppercased())\n") == charset,
            "White space or capitals change the charset."
        )
        let shifted = Data([0xEF, 0xBB, 0xBF]) + body
        do {
            let text = try charset.decode(body, from: 0)
            try require((try? charset.decode(shifted, from: 3)) == text, "An offset changes the text.")
            switch charset.decoder {
            case .utf8: try require(Array(text.utf8) == Array(body), "UTF-8 does not round-trip.")
            case .utf16: try require(text.utf16.count * 2 == body.count, "UTF-16 has the wrong length.")
            case .singleByte: try require(text.unicodeScalars.count == body.count, "Not each byte is a character.")
            case .eucJP, .multibyte: break
            }
        } catch let error as TextFailure {
            try require((0...body.count).contains(error.offset ?? 0), "An error is beyond the end.")
            try require(charset.name != "windows-1252", "Not each byte is a character.")
            if charset.decoder == .utf8 {
                try require(String(validating: body, as: UTF8.self) == nil, "Valid UTF-8 is rejected.")
                let valid = body.prefix(error.offset ?? 0)
                try require(
                    String(validating: valid, as: UTF8.self) != nil,
                    "The text is invalid before the error."
                )
            }
        }
    }

    /// Parses the head of a cache entry on disk. Writing and reading it again gives the same head.
    static let entryHead = FuzzTarget("entry-head") { bytes in
        guard let head = EntryHead(bytes) else { return }
        let written = head.encoded()
        guard let again = written.withUnsafeBytes({ EntryHead($0) }) else {
            throw InvariantViolation(description: "A written head cannot be read.")
        }
        let dates = { (head: EntryHead) in
            [head.stored, head.response?.requested, head.response?.received].map {
                $0?.timeIntervalSinceReferenceDate.bitPattern
            }
        }
        try require(dates(again) == dates(head), "Dates differ.")
        try require(again.renewal == head.renewal && again.tags == head.tags, "Renewal or tags differ.")
        try require(again.response?.url == head.response?.url, "URLs differ.")
        try require(again.response?.identity == head.response?.identity, "Identities differ.")
        try require(again.response?.part?.range == head.response?.part?.range, "Ranges differ.")
        try require(again.response?.head.status == head.response?.head.status, "Statuses differ.")
        try require(again.response?.head.headers == head.response?.head.headers, "Fields differ.")
        if let headers = head.response?.head.headers { try checkStorage(of: headers) }
    }

    /// Parses a value of the cache on disk. Bytes that are not a value are rejected.
    static let keptValue = FuzzTarget("kept-value") { bytes in
        let coding = ValueCoding(name: "key")
        let body = Data(bytes)
        let slice = (Data([1, 2]) + body).dropFirst(2)
        if let text = try? coding.decode(String.self, from: slice) {
            try require(
                try coding.decode(String.self, from: coding.encode(text))?.isSame(as: text) == true,
                "A text does not round-trip."
            )
        }
        if let json = try? coding.decode(JSON.self, from: slice) {
            try require(
                try coding.decode(JSON.self, from: coding.encode(json)) == json,
                "A JSON value does not round-trip."
            )
        }
        _ = try? coding.decode([Double?].self, from: slice)
        try require(try coding.decode(Data.self, from: coding.encode(body)) == body, "Data does not round-trip.")
        try require((try? coding.decode(Int.self, from: coding.encode(body))) == nil, "Data is decoded as an integer.")
        try require(
            try coding.decode(Data?.self, from: coding.encode(Data?.none)) == .some(nil),
            "Nil does not round-trip."
        )
    }

    /// Parses the JSON journal of a partial download, and compares sets of byte ranges with a plain list.
    static let partJournal = FuzzTarget("part-journal") { bytes in
        let data = Data(bytes)
        if let journal = try? JSONDecoder().decode(PartialDownloadJournal.self, from: data) {
            let again = try JSONDecoder().decode(PartialDownloadJournal.self, from: JSONEncoder().encode(journal))
            try require(again == journal, "A journal does not round-trip.")
            for length in [0, 100, Int64.max] {
                for boot in [journal.bootID, "another", nil] {
                    let trusted = journal.trusted(partLength: length, bootID: boot)
                    try require(trusted?.end ?? 0 <= length, "Bytes beyond the end are trusted.")
                }
            }
        }
        try checkRanges(Array(bytes))
    }

    private static func checkRanges(_ bytes: [UInt8]) throws {
        var ranges = ByteRanges()
        var isPresent = [Bool](repeating: false, count: 512)
        for index in stride(from: 0, to: min(bytes.count, 128) - 1, by: 2) {
            let start = Int(bytes[index])
            let range = start..<(start + Int(bytes[index + 1]))
            for place in range { isPresent[place] = true }
            ranges.insert(Int64(range.lowerBound)..<Int64(range.upperBound))
            try require(
                ranges.contains(Int64(range.lowerBound)..<Int64(range.upperBound)),
                "An inserted range is missing."
            )
        }
        try require(ranges.count == Int64(isPresent.count { $0 }), "The count is \(ranges.count).")
        try require(ranges.prefix == Int64(isPresent.prefix { $0 }.count), "The prefix is \(ranges.prefix).")
        let ends = zip(ranges.ranges, ranges.ranges.dropFirst())
        try require(ends.allSatisfy { $0.upperBound < $1.lowerBound }, "Adjacent ranges are not merged.")
        let missing = ranges.missing(upTo: 300).flatMap { Array($0) }
        try require(
            missing == (0..<300).filter { !isPresent[Int($0)] }.map { Int64($0) },
            "The missing ranges are wrong."
        )
    }
}
