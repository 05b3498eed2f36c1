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
            (["identıty"], .unknown),
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

    /// Comparing such a text with another takes more than a second, because Swift sorts the combining characters.
    @Test(.timeLimit(.minutes(1))) func combiningCharactersAreNotSorted() {
        let marks = String(repeating: "\u{301}\u{323}", count: 15_000)
        for field in [HTTPHeaderName("Content-Encoding"), "Connection"] {
            let headers = HTTPHeaders([(field, "e" + marks)])
            for _ in 0..<200 {
                #expect(ContentDecoder.plan(for: headers) == (field == "Connection" ? .identity : .unknown))
                #expect(!headers.connectionOptions.contains("close"))
            }
        }
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
