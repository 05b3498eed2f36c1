#if os(Linux)
import CZlib
import CZstd
import Foundation

@testable import SluiceEngine

/// Encoded bodies.
enum CodingSamples {
    static let text = Data(String(repeating: "Sluice reads what was squeezed. ", count: 40).utf8)
    /// The text, compressed by Google's encoder in one meta-block.
    static let br = data("G/8E+AVqc6l+SLZiSKIXBiubyGAlkIP1wkHyPSvRJWpfNHnR6jPwKRM=")
    /// The text, compressed by Python's gzip and then by Google's encoder.
    static let brOfGzip = data(
        "Dx+AH4sIAAAAAAACAwvOKc1MTlUoSk1MKVYoz0gsUShPLFYoLixNTa1KTdFTCB6VH5UflR+VH6byAIn8uxMABQAAAw=="
    )
    /// The text, compressed by the command `zstd` in one frame with a checksum.
    static let zstd = data("KLUv/WQABE0BAAQCU2x1aWNlIHJlYWRzIHdoYXQgd2FzIHNxdWVlemVkLiABAOhm/OoJNBakWQ==")

    /// 1 GiB of zero bytes, compressed by Google's encoder to 809 bytes: seven equal parts between two others.
    static let brBomb: Data = {
        let part = data(
            "7//5//8PgARAHBaA7v0/////AZAAiMMC0L3/5///PwASAHFYALr3//z//wdAAiAOC0D3/p////8ASADEYQHo3v/z//8fAAmAOCwA3ft//v//AyABEIcF"
                + "oHv/z///fwAkAOKwAHQ="
        )
        let end = data(
            "7//5//8PgARAHBaA7v0/////AZAAiMMC0L3/5///PwASAHFYALr3//z//wdAAiAOC0D3/p////8ASADEYQHo3v/z//8fAAmAOCwA3ft//v//AyABEIcF"
                + "oHv/Pw=="
        )
        return data("z///fwAkAOKxQHI=") + CodingSamples.repetitions(of: part, 7) + end
    }()

    /// Returns repetitions of bytes. In a debug build, `repeatElement(_:count:).joined()` takes a hundred times as long.
    static func repetitions(of unit: Data, _ count: Int) -> Data {
        var bytes = unit
        while bytes.count < unit.count * count { bytes += bytes.prefix(unit.count * count - bytes.count) }
        return bytes.prefix(unit.count * count)
    }

    static func data(_ base64: String) -> Data { Data(base64Encoded: base64) ?? Data() }

    static func gzip(_ data: Data) -> Data { deflate(data, windowBits: 15 + 16) }
    static func zlib(_ data: Data) -> Data { deflate(data, windowBits: 15) }
    static func raw(_ data: Data) -> Data { deflate(data, windowBits: -15) }

    /// A block with codes of its own for all symbols (RFC 1951 §3.2.7) and one literal, in whole bytes.
    private static let slowBlock = data("7B0FQBAwjO7u7u7u7u7u7u7u7u7u7u7u7g67u7u7O7d3d8edRw==")

    /// Returns raw deflate data with a block of 37 bytes for each byte of the contents. A block takes zlib about 4 µs.
    static func slowRaw(_ count: Int) -> Data { repetitions(of: slowBlock, count) + [0x03, 0x00] }

    private static func deflate(_ data: Data, windowBits: Int32) -> Data {
        var stream = z_stream()
        let size = Int32(MemoryLayout<z_stream>.size)
        deflateInit2_(&stream, 9, Z_DEFLATED, windowBits, 8, Z_DEFAULT_STRATEGY, ZLIB_VERSION, size)
        defer { deflateEnd(&stream) }
        var (input, output) = (Array(data), [UInt8](repeating: 0, count: data.count + data.count / 100 + 100))
        input.withUnsafeMutableBufferPointer { input in
            output.withUnsafeMutableBufferPointer { output in
                (stream.next_in, stream.avail_in) = (input.baseAddress, UInt32(input.count))
                (stream.next_out, stream.avail_out) = (output.baseAddress, UInt32(output.count))
                _ = CZlib.deflate(&stream, Z_FINISH)
            }
        }
        return Data(output.prefix(Int(stream.total_out)))
    }

    /// Returns one frame with its content size.
    static func zstd(_ data: Data) -> Data {
        var output = [UInt8](repeating: 0, count: ZSTD_compressBound(data.count))
        let count = data.withUnsafeBytes { ZSTD_compress(&output, output.count, $0.baseAddress, $0.count, 3) }
        return Data(output.prefix(count))
    }

    /// Returns a stream of uncompressed meta-blocks (RFC 7932 §9.2).
    static func storedBr(_ data: Data) -> Data {
        var output = Data()
        var bits: UInt32 = 0
        var rest = data[...]
        while !rest.isEmpty {
            let block = rest.prefix(1 << 16)
            rest = rest[block.endIndex...]
            // WBITS, a zero for 16, precedes the first block. Then ISLAST and MNIBBLES, three zeros; MLEN - 1; ISUNCOMPRESSED.
            let shift: UInt32 = output.isEmpty ? 1 : 0
            bits = (UInt32(block.count - 1) << 3 | 1 << 19) << shift
            output += [UInt8(bits & 0xFF), UInt8(bits >> 8 & 0xFF), UInt8(bits >> 16)]
            output += block
        }
        return output + [output.isEmpty ? 0x06 : 0x03]
    }
}
#endif
