import Foundation
import Sluice
import Testing

/// Handwritten headers for cases that no encoder produces.
@Suite struct ImageHeaderTests {
    private static func png(_ size: [UInt8], length: UInt8 = 13, name: String = "IHDR") -> Data {
        Data([0x89, 0x50, 0x4E, 0x47, 0x0D, 0x0A, 0x1A, 0x0A, 0, 0, 0, length]) + Data(name.utf8) + Data(size)
            + Data([8, 2, 0, 0, 0, 1, 2, 3, 4])
    }

    private static func jpeg(_ segments: [UInt8]...) -> Data {
        Data([0xFF, 0xD8]) + Data(segments.joined())
    }

    private static func frame(_ marker: UInt8, height: UInt8 = 2, width: UInt8 = 3, length: UInt8 = 11) -> [UInt8] {
        [0xFF, marker, 0, length, 8, 0, height, 1, width, 1, 1, 0x11, 0]
    }

    private static func webp(_ name: String, length: [UInt8]? = nil, _ payload: [UInt8]) -> Data {
        Data("RIFF".utf8) + Data([0, 0, 0, 0]) + Data("WEBP\(name)".utf8)
            + Data(length ?? [UInt8(truncatingIfNeeded: payload.count), 0, 0, 0]) + Data(payload)
    }

    static let sizes: [(Data, Int, Int)] = [
        (png([0, 0, 0, 1, 0, 0, 0, 1]), 1, 1),
        (png([0x7F, 0xFF, 0xFF, 0xFF, 0, 1, 0, 0]), 2_147_483_647, 65_536),
        (jpeg(frame(0xC0)), 259, 2), (jpeg(frame(0xC2)), 259, 2), (jpeg(frame(0xCF)), 259, 2),
        (jpeg([0xFF, 0xFF, 0xFF], frame(0xC1)), 259, 2),
        (jpeg([0xFF, 0x01, 0xFF, 0xD0, 0xFF, 0xD7], frame(0xC0)), 259, 2),
        // Tables and a comment that resemble frames.
        (jpeg([0xFF, 0xC4, 0, 4, 0xFF, 0xC0], [0xFF, 0xC8, 0, 2], [0xFF, 0xCC, 0, 3, 0], frame(0xC9)), 259, 2),
        (jpeg([0xFF, 0xFE, 0, 8, 0xFF, 0xD9, 0xFF, 0xC0, 0, 0], frame(0xC0)), 259, 2),
        (Data("GIF89a".utf8) + Data([0xFF, 0xFF, 1, 0, 0, 0, 0]), 65_535, 1),
        (webp("VP8 ", [0x10, 0, 0, 0x9D, 1, 0x2A, 0x03, 0xC0, 0xFF, 0x7F]), 3, 16_383),
        (webp("VP8L", [0x2F, 0xFF, 0xFF, 0xFF, 0x1F]), 16_384, 16_384),
        (webp("VP8X", [0, 0, 0, 0, 0, 0, 0, 0xFF, 0xFF, 0xFF]), 1, 16_777_216),
        (webp("VP8X", [0, 0, 0, 0, 0xFF, 0, 0, 0xFE, 0xFF, 0xFF]), 256, 16_777_215),
    ]

    @Test(arguments: sizes)
    func readsSizeFromValidHeader(_ data: Data, _ width: Int, _ height: Int) throws {
        let image = try ImageFile(data: data)
        #expect(image.width == width)
        #expect(image.height == height)
    }

    static let failures: [(Data, ImageFile.Format?, String)] = [
        (Data(), nil, "it is empty"),
        (Data("<html>".utf8), nil, "does not begin"), (Data([0]), nil, "does not begin"),
        (Data("GIF90a1234567".utf8), nil, "does not begin"), (Data("RIFF1234WAVEfmt ".utf8), nil, "does not begin"),
        (Data([0x89, 0x50, 0x4E, 0x47, 0x0A]), nil, "does not begin"),
        (png([0, 0, 0, 0, 0, 0, 0, 1]), .png, "0 by 1 pixels"), (png([0, 0, 0, 2, 0, 0, 0, 0]), .png, "2 by 0 pixels"),
        (png([0x80, 0, 0, 0, 0, 0, 0, 1]), .png, "more than 2147483647"),
        (png([0, 0, 0, 1, 0xFF, 0xFF, 0xFF, 0xFF]), .png, "more than 2147483647"),
        (png([0, 0, 0, 1, 0, 0, 0, 1], length: 12), .png, "IHDR"),
        (png([0, 0, 0, 1, 0, 0, 0, 1], name: "IDAT"), .png, "IHDR"),
        (jpeg(frame(0xC0, height: 0)), .jpeg, "259 by 0 pixels"),
        (jpeg(frame(0xC0, length: 7)), .jpeg, "an invalid length"),
        (jpeg(frame(0xC0, length: 1)), .jpeg, "an invalid length"),
        (jpeg(frame(0xC0, length: 14), [0, 0, 0]), .jpeg, "an invalid length"),
        (jpeg(frame(0xC0, length: 200)), .jpeg, "is truncated"),
        (jpeg([0xFF, 0xE0, 0, 0], frame(0xC0)), .jpeg, "an invalid length"),
        (jpeg([0xFF, 0xE0, 0xFF, 0xFF], frame(0xC0)), .jpeg, "is truncated"),
        (jpeg(), .jpeg, "is truncated after 2 bytes"), (jpeg([0xFF]), .jpeg, "is truncated after 3 bytes"),
        (jpeg([UInt8](repeating: 0xFF, count: 500)), .jpeg, "is truncated"),
        (jpeg([0x00], frame(0xC0)), .jpeg, "no marker at byte 2"), (jpeg([0xFF, 0x00]), .jpeg, "no marker at byte 3"),
        (jpeg([0xFF, 0xD8], frame(0xC0)), .jpeg, "no marker at byte 3"),
        (jpeg([0xFF, 0xD9]), .jpeg, "its end"), (jpeg([0xFF, 0xDA, 0, 2]), .jpeg, "its first scan"),
        (Data("GIF89a".utf8) + Data([0, 0, 1, 0, 0, 0, 0]), .gif, "0 by 1 pixels"),
        (Data("GIF89a".utf8) + Data([1, 0, 1, 0, 0, 0]), .gif, "is truncated"),
        (webp("VP8 ", [0x10, 0, 0, 0x9D, 1, 0x2A, 0, 0xC0, 1, 0]), .webp, "0 by 1 pixels"),
        (webp("VP8 ", [0x11, 0, 0, 0x9D, 1, 0x2A, 1, 0, 1, 0]), .webp, "key frame"),
        (webp("VP8 ", [0x10, 0, 0, 0x9D, 1, 0x2B, 1, 0, 1, 0]), .webp, "key frame"),
        (webp("VP8L", [0x2E, 0, 0, 0, 0]), .webp, "lossless"),
        (webp("VP8L", [0x2F, 0, 0, 0, 0x20]), .webp, "lossless"),
        (webp("VP8X", [0, 0, 0, 0, 0xFF, 0xFF, 0xFF, 0xFF, 0xFF, 0xFF]), .webp, "more than 4294967295"),
        (webp("VP8X", [0, 0, 0, 0, 0, 1, 0, 0xFF, 0xFF, 0xFF]), .webp, "more than 4294967295"),
        (webp("ICCP", [0, 0]), .webp, "first chunk"),
        (webp("VP8X", length: [9, 0, 0, 0], [0, 0]), .webp, "an invalid length"),
        (webp("VP8L", length: [0xFF, 0xFF, 0xFF, 0xFF], [0x2F]), .webp, "is truncated"),
    ]

    @Test(arguments: failures)
    func rejectsInvalidHeaderWithReason(_ data: Data, _ format: ImageFile.Format?, _ reason: String) {
        let error = #expect(throws: SluiceError.self) { try ImageFile(data: data) }
        let failure = error?.underlyingError as? ImageFailure
        #expect(error?.code == .decodingFailed)
        #expect(error?.reason == failure?.description)
        #expect(failure?.format == format)
        #expect(failure?.reason.contains(reason) == true, "\(failure?.reason ?? "")")
        #expect(failure?.description.hasPrefix("The data is not a valid ") == true)
    }
}
