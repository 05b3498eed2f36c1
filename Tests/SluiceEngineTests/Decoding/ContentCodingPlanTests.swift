#if os(Linux)
import SluiceHTTP
import Testing

@testable import SluiceEngine

@Suite struct ContentCodingPlanTests {
    @Test(
        arguments: [
            ([], .identity),
            ([""], .identity),
            ([" , ,\t"], .identity),
            (["identity"], .identity),
            (["Identity, identity", "identity"], .identity),
            (["gzip"], .decode([.gzip])),
            (["X-GZip"], .decode([.gzip])),
            (["DEFLATE"], .decode([.deflate])),
            (["br"], .decode([.br])),
            (["zstd"], .decode([.zstd])),
            (["\t gzip\t, ,br"], .decode([.gzip, .br])),
            (["gzip", "br"], .decode([.gzip, .br])),
            (["identity, gzip", "identity", "gzip"], .decode([.gzip, .gzip])),
            (["compress"], .unknown),
            (["gzip, compress"], .unknown),
            (["aws-chunked", "gzip"], .unknown),
            (["gzip;q=1"], .unknown),
            (["gzip br"], .unknown),
            (["gzıp"], .unknown),
            (["gzip, br, zstd"], .tooMany),
            (["gzip, br", "zstd"], .tooMany),
            (["gzip", "a", "b"], .tooMany),
            ([String(repeating: "gzip, ", count: 1000)], .tooMany),
        ] as [([String], ContentDecoder.Plan)]
    )
    func planCoversAllFieldLines(lines: [String], plan: ContentDecoder.Plan) {
        var headers = HTTPHeaders(lines.map { ("content-ENCODING", $0) })
        headers.append("Content-Type", "gzip")
        #expect(ContentDecoder.plan(for: headers) == plan)
    }

    @Test func acceptEncodingNamesSupportedCodingsOnly() {
        let asked = "\(ContentDecoder.acceptEncoding)".split(separator: ",").map { $0.drop { $0 == " " } }
        #expect(asked.compactMap { ContentCoding($0) } == [.deflate, .gzip, .br, .zstd])
        #expect(asked.count == 4)
    }

    @Test func decoderSupportsOneOrTwoCodings() {
        #expect(ContentDecoder([]) == nil)
        #expect(ContentDecoder([.gzip, .br, .zstd]) == nil)
    }
}
#endif
