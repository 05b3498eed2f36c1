import Testing

@testable import SluiceTesting

@Suite struct RangeRequestTests {
    @Test(
        arguments: [
            (nil, .whole),
            ("bytes=0-9", .part(0..<10)),
            ("bytes=0-0", .part(0..<1)),
            ("bytes=99-99", .part(99..<100)),
            ("bytes=10-", .part(10..<100)),
            ("bytes=90-1000", .part(90..<100)),
            ("bytes=5-99999999999999999999999", .part(5..<100)),
            ("bytes=-1", .part(99..<100)),
            ("bytes=-100", .part(0..<100)),
            ("bytes=-1000", .part(0..<100)),
            ("bytes=-99999999999999999999999", .part(0..<100)),
            ("Bytes=0-9", .part(0..<10)),
            ("bytes= 0-9 ,", .part(0..<10)),
            ("bytes=,\t0-9", .part(0..<10)),
            ("bytes=007-008", .part(7..<9)),
        ] as [(String?, RangeRequest)]
    )
    func parsesSatisfiableRange(field: String?, expected: RangeRequest) {
        #expect(RangeRequest(field, length: 100) == expected)
    }

    @Test(arguments: ["bytes=100-", "bytes=100-200", "bytes=99999999999999999999999-", "bytes=-0", "bytes=-000"])
    func rangeBeyondEndIsUnsatisfiable(field: String) {
        #expect(RangeRequest(field, length: 100) == .unsatisfiable)
    }

    @Test(arguments: [
        "", "bytes", "bytes=", "=0-9", "bytes=-", "bytes=9", "bytes=9-8", "bytes=a-b", "bytes=1-b", "bytes=-x",
        "bytes=+1-2",
        "bytes=1 - 2", "bytes=0-1-2", "bytes=0-1,5-6", "items=0-9", "bytes =0-9", " bytes=0-9", "bytes:0-9",
        "bytes=0--1",
        "bytes=٣-٥",
    ])
    func ignoresMalformedMultipleAndOtherUnits(field: String) {
        #expect(RangeRequest(field, length: 100) == .whole)
    }

    @Test(
        arguments: [("bytes=0-", .unsatisfiable), ("bytes=-5", .whole), ("bytes=-0", .unsatisfiable), (nil, .whole)]
            as [(String?, RangeRequest)]
    )
    func emptyFileHasNoSatisfiableRange(field: String?, expected: RangeRequest) {
        #expect(RangeRequest(field, length: 0) == expected)
    }
}
