import Foundation
import Testing

@testable import SluiceTelemetry

/// The two encodings of messages, byte for byte.
struct EncodingTests {
    private static let inner = ProtobufMessage { $0.add(1, "name", .string("é\"\n")) }

    private static let values: [(ProtobufValue, protobuf: [UInt8], json: String)] = [
        (.string("ab"), [0x0A, 2, 0x61, 0x62], #""ab""#),
        (.id([1]), [0x0A, 8, 0, 0, 0, 0, 0, 0, 0, 1], #""0000000000000001""#),
        (.bool(true), [0x08, 1], "true"),
        (.int64(300), [0x08, 0xAC, 0x02], #""300""#),
        (.int64(-1), [0x08, 0xFF, 0xFF, 0xFF, 0xFF, 0xFF, 0xFF, 0xFF, 0xFF, 0xFF, 0x01], #""-1""#),
        (.uint32(127), [0x08, 0x7F], "127"),
        (.enumeration(3), [0x08, 3], "3"),
        (.fixed32(257), [0x0D, 1, 1, 0, 0], "257"),
        (.fixed64(258), [0x09, 2, 1, 0, 0, 0, 0, 0, 0], #""258""#),
        (.double(1), [0x09, 0, 0, 0, 0, 0, 0, 0xF0, 0x3F], "1.0"),
        (.double(.infinity), [0x09, 0, 0, 0, 0, 0, 0, 0xF0, 0x7F], #""Infinity""#),
        (.message(inner), [0x0A, 6, 0x0A, 4, 0xC3, 0xA9, 0x22, 0x0A], #"{"name":"é\"\u000a"}"#),
        (.messages([ProtobufMessage(), ProtobufMessage()]), [0x0A, 0, 0x0A, 0], "[{},{}]"),
        (.fixed64s([1, 2]), [0x0A, 16, 1, 0, 0, 0, 0, 0, 0, 0, 2, 0, 0, 0, 0, 0, 0, 0], #"["1","2"]"#),
        (.doubles([0]), [0x0A, 8, 0, 0, 0, 0, 0, 0, 0, 0], "[0.0]"),
    ]

    @Test func valuesAreEncoded() {
        for (value, protobuf, json) in Self.values {
            let message = ProtobufMessage { $0.add(1, "x", value) }
            #expect(OTLPFormat.protobuf.encoded(message) == protobuf)
            #expect(String(decoding: OTLPFormat.json.encoded(message), as: UTF8.self) == "{\"x\":\(json)}")
        }
    }

    @Test func largeNumbersOfFieldsTakeTwoBytes() {
        let message = ProtobufMessage { $0.add(16, "flags", .fixed32(1)) }
        #expect(OTLPFormat.protobuf.encoded(message) == [0x85, 0x01, 1, 0, 0, 0])
    }

    @Test(
        arguments: [
            ([], 0, ""),
            ([0x0A, 0], 0, ""),
            ([0x0A, 2, 0x08, 3], 3, ""),
            ([0x0A, 4, 0x12, 2, 0x6E, 0x6F], 0, "no"),
            // A field that a later version may add.
            ([0x0A, 4, 0x08, 3, 0x18, 1, 0x15, 0, 0, 0, 0], 3, ""),
        ] as [([UInt8], Int64, String)]
    )
    func answersAreRead(_ bytes: [UInt8], _ rejected: Int64, _ message: String) throws {
        let response = try #require(ExportResponse(Data(bytes), as: .protobuf))
        #expect(response.rejected == rejected)
        #expect(response.message == message)
    }

    @Test(
        arguments: [
            [0x3C, 0x68], [0x0A, 5, 0x08], [0x0A, 1, 0x08], [0x00], [0x0F],
            [0xFF, 0xFF, 0xFF, 0xFF, 0xFF, 0xFF, 0xFF, 0xFF, 0xFF, 0xFF, 0xFF],
        ] as [[UInt8]]
    )
    func nonsenseIsNoAnswer(_ bytes: [UInt8]) {
        #expect(ExportResponse(Data(bytes), as: .protobuf) == nil)
    }

    @Test func answersInJSONAreRead() throws {
        let text = #"{"partialSuccess":{"rejectedDataPoints":"2","errorMessage":"old"}}"#
        let response = try #require(ExportResponse(Data(text.utf8), as: .json))
        #expect(response.rejected == 2)
        #expect(response.message == "old")
        #expect(ExportResponse(Data("{}".utf8), as: .json)?.rejected == 0)
        #expect(ExportResponse(Data("<html>".utf8), as: .json) == nil)
    }
}
