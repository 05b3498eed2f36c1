import Foundation
import SluiceHTTP

/// An intended exchange: the request, and the response byte for byte.
struct FaultExchange: Sendable {
    enum Upload: Sendable {
        case none
        case data
        /// In pieces that can be sent only once.
        case stream
        /// Held back until the server sends 100 Continue.
        case expectingContinue
    }

    let name: String
    var method = HTTPMethod.get
    var upload = Upload.none
    /// True if the connection has carried another exchange before.
    var reusesConnection = false
    /// True if the end of the connection ends the body.
    var isEndedByClose = false
    /// The bytes of the server, including informational responses.
    let wire: Data
    /// The response that the client should read from them.
    let intended: WireResponse

    static let text = Data("The water finds its own level, and the sluice lets it through.".utf8)
    /// The text, compressed with gzip.
    static let gzip = Data(
        [
            0x1f, 0x8b, 0x08, 0x00, 0x00, 0x00, 0x00, 0x00, 0x02, 0x03, 0x0b, 0xc9, 0x48, 0x55, 0x28, 0x4f, 0x2c,
            0x49, 0x2d, 0x52, 0x48, 0xcb, 0xcc, 0x4b, 0x29, 0x56, 0xc8, 0x2c, 0x29, 0x56, 0xc8, 0x2f, 0xcf, 0x53,
            0xc8, 0x49, 0x2d, 0x4b, 0xcd, 0xd1, 0x51, 0x48, 0xcc, 0x4b, 0x51, 0x28, 0x01, 0x2a, 0x29, 0xce, 0x29,
            0xcd, 0x4c, 0x4e, 0x05, 0x8a, 0x96, 0x80, 0x94, 0x00, 0x85, 0x8a, 0xf2, 0x4b, 0xd3, 0x33, 0xf4, 0x00,
            0xa7, 0xe3, 0x13, 0xeb, 0x3e, 0x00, 0x00, 0x00,
        ]
    )
    static let uploadedText = Data("Up the river, lock by lock, lift by lift, to the lake.".utf8)

    init(
        _ name: String,
        status: Int = 200,
        before: String = "",
        fields: [String],
        wireBody: Data,
        decodedBody: Data? = nil
    ) {
        self.name = name
        let head = before + "HTTP/1.1 \(status) OK\r\n" + fields.map { $0 + "\r\n" }.joined() + "\r\n"
        wire = Data(head.utf8) + wireBody
        intended = WireResponse(status: status, fields: fields, body: decodedBody ?? wireBody)
    }

    func with(_ change: (inout FaultExchange) -> Void) -> FaultExchange {
        var exchange = self
        change(&exchange)
        return exchange
    }

    /// True if the request may be sent again without harm.
    var isIdempotent: Bool { method != .post }

    /// True if the request may be sent again and its body can be read again.
    var canBeResent: Bool {
        if case .stream = upload { false } else { isIdempotent }
    }
}

extension FaultExchange {
    static let plain = FaultExchange(
        "plain",
        fields: ["Content-Type: text/plain", "X-Mark: 1", "Content-Length: \(text.count)"],
        wireBody: text
    )

    static let chunked = FaultExchange(
        "chunked",
        fields: ["Content-Type: text/plain", "Transfer-Encoding: chunked"],
        wireBody: inChunks(text, trailer: "X-Trailer: 1\r\n"),
        decodedBody: text
    )

    static let compressed = FaultExchange(
        "gzip",
        fields: ["Content-Encoding: gzip", "Content-Length: \(gzip.count)"],
        wireBody: gzip,
        decodedBody: text
    )

    static let compressedChunks = FaultExchange(
        "gzip, chunked",
        fields: ["Content-Encoding: gzip", "Transfer-Encoding: chunked"],
        wireBody: inChunks(gzip),
        decodedBody: text
    )

    static let untilClose = FaultExchange("until close", fields: ["X-Mark: 1"], wireBody: text)
        .with { $0.isEndedByClose = true }

    static let compressedUntilClose = FaultExchange(
        "gzip, until close",
        fields: ["Content-Encoding: gzip"],
        wireBody: gzip,
        decodedBody: text
    )
    .with { $0.isEndedByClose = true }

    static let empty = FaultExchange("no content", status: 204, fields: ["X-Mark: 1"], wireBody: Data())

    static let head = FaultExchange("head", fields: ["Content-Length: \(text.count)"], wireBody: Data())
        .with { $0.method = .head }

    static let hinted = FaultExchange(
        "early hints",
        before: "HTTP/1.1 103 Early Hints\r\nLink: </a>\r\n\r\n",
        fields: ["Content-Length: \(text.count)"],
        wireBody: text
    )

    static func uploadResponse(_ name: String, _ method: HTTPMethod, _ upload: Upload) -> FaultExchange {
        FaultExchange(name, status: 201, fields: ["Content-Length: 2"], wireBody: Data("ok".utf8)).with {
            $0.method = method
            $0.upload = upload
        }
    }

    static let uploads = [
        uploadResponse("POST", .post, .data), uploadResponse("PUT", .put, .data),
        uploadResponse("POST of a stream", .post, .stream),
        uploadResponse("PUT with Expect", .put, .expectingContinue),
        uploadResponse("POST with Expect", .post, .expectingContinue),
    ]

    private static func inChunks(_ data: Data, trailer: String = "") -> Data {
        let (first, second) = (data.prefix(5), data.dropFirst(5))
        var framed = Data("5;a=b\r\n".utf8) + first + Data("\r\n".utf8)
        framed += Data("\(String(second.count, radix: 16))\r\n".utf8) + second + Data("\r\n0\r\n\(trailer)\r\n".utf8)
        return framed
    }

    /// The same exchange on a connection that has been used before.
    var onReusedConnection: FaultExchange {
        FaultExchange(copying: self, name: name + ", reused connection")
    }

    private init(copying other: FaultExchange, name: String) {
        self.name = name
        method = other.method
        upload = other.upload
        reusesConnection = true
        isEndedByClose = other.isEndedByClose
        wire = other.wire
        intended = other.intended
    }
}
