import Foundation
import SluiceTesting
import Testing

@testable import SluiceHTTP

@Suite struct ByteRangesTests {
    private static let insertions: [(inserted: [Range<Int64>], ranges: [Range<Int64>])] = [
        ([], []),
        ([0..<5], [0..<5]),
        ([5..<5], []),
        ([0..<5, 10..<15], [0..<5, 10..<15]),
        ([10..<15, 0..<5], [0..<5, 10..<15]),
        ([0..<5, 5..<10], [0..<10]),
        ([5..<10, 0..<5], [0..<10]),
        ([0..<5, 3..<8], [0..<8]),
        ([0..<10, 3..<5], [0..<10]),
        ([3..<5, 0..<10], [0..<10]),
        ([0..<2, 4..<6, 8..<10, 1..<9], [0..<10]),
        ([0..<2, 4..<6, 8..<10, 2..<4], [0..<6, 8..<10]),
        ([0..<2, 4..<6, 8..<10, 12..<14, 5..<12], [0..<2, 4..<14]),
        ([-5..<5], [0..<5]),
        ([-9 ..< -5], []),
        ([0 ..< .max, 7..<9], [0 ..< .max]),
        ([.max - 1 ..< .max, 0..<1], [0..<1, .max - 1 ..< .max]),
    ]

    @Test(arguments: insertions)
    func overlappingAndAdjacentRangesAreMerged(_ inserted: [Range<Int64>], _ ranges: [Range<Int64>]) {
        #expect(ByteRanges(inserted).ranges == ranges)
    }

    private static let gaps: [(ranges: [Range<Int64>], length: Int64, missing: [Range<Int64>])] = [
        ([], 0, []),
        ([], 10, [0..<10]),
        ([0..<10], 10, []),
        ([0..<10], 8, []),
        ([0..<4], 10, [4..<10]),
        ([4..<10], 10, [0..<4]),
        ([2..<4, 6..<8], 10, [0..<2, 4..<6, 8..<10]),
        ([2..<4, 6..<8], 5, [0..<2, 4..<5]),
        ([2..<4, 6..<8], 3, [0..<2]),
        ([2..<4], 1, [0..<1]),
        ([2..<4], -1, []),
    ]

    @Test(arguments: gaps)
    func missingRangesAreTheGaps(_ ranges: [Range<Int64>], _ length: Int64, _ missing: [Range<Int64>]) {
        #expect(ByteRanges(ranges).missing(upTo: length) == missing)
    }

    @Test func prefixEndAndCountFollowFromTheRanges() {
        #expect(ByteRanges().prefix == 0)
        #expect(ByteRanges([3..<5]).prefix == 0)
        #expect(ByteRanges([0..<3, 4..<5]).prefix == 3)
        #expect(ByteRanges([0..<3, 4..<5]).end == 5)
        #expect(ByteRanges([0..<3, 4..<5]).count == 4)
        #expect(ByteRanges([0 ..< .max]).count == .max)
    }

    @Test(arguments: [UInt64(1), 2, 3, 4, 5, 6, 7, 8])
    func randomInsertionsEqualASetOfBytes(_ seed: UInt64) {
        var random = SeededGenerator(seed: seed)
        var ranges = ByteRanges()
        var bytes: Set<Int64> = []
        for _ in 0..<60 {
            let start = Int64.random(in: 0..<100, using: &random)
            let range = start..<start + Int64.random(in: 0..<12, using: &random)
            ranges.insert(range)
            bytes.formUnion(range)
            let probe = Int64.random(in: 0..<100, using: &random)
            let probed = probe..<probe + Int64.random(in: 0..<12, using: &random)
            #expect(ranges.contains(probed) == bytes.isSuperset(of: probed))
            #expect(Set(ranges.ranges.joined()) == bytes)
            #expect(ranges.count == Int64(bytes.count))
            #expect(Set(ranges.missing(upTo: 120).joined()) == Set(0..<120).subtracting(bytes))
            for (first, second) in zip(ranges.ranges, ranges.ranges.dropFirst()) {
                #expect(first.upperBound < second.lowerBound)
            }
        }
    }

    @Test func rangesRoundTripThroughJSON() throws {
        let ranges = ByteRanges([0..<5, 9..<Int64.max])
        let json = try JSONEncoder().encode(ranges)
        #expect(String(decoding: json, as: UTF8.self) == "[[0,5],[9,9223372036854775807]]")
        #expect(try JSONDecoder().decode(ByteRanges.self, from: json) == ranges)
        let untidy = Data("[[7,9],[0,5],[4,6]]".utf8)
        #expect(try JSONDecoder().decode(ByteRanges.self, from: untidy).ranges == [0..<6, 7..<9])
    }

    @Test(arguments: [
        "[[5,5]]", "[[5,3]]", "[[-1,3]]", "[[1]]", "[[]]", "[[1,2,3]]", "[[1,9223372036854775808]]", "[[1,2.5]]", "{}",
        "[1]",
        "null", #"[["0","5"]]"#,
    ])
    func rejectsMalformedRanges(_ json: String) {
        #expect(throws: DecodingError.self) { try JSONDecoder().decode(ByteRanges.self, from: Data(json.utf8)) }
    }
}
