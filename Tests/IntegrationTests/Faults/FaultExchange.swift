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
        case asking
    }

    let name: String
    var method = HTTPMethod.get
    var upload = Upload.none
    /// True if the connection has carried another exchange before.
    var isSecond = false
    /// True if the end of the connection ends the body.
    var isEndedByClose = false
    /// The bytes of the server, including informational responses.
    let wire: Data
    /// The response that the client should read from them.
    let meant: WireResponse

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
    static let uploaded = Data("Up the river, lock by lock, lift by lift, to the lake.".utf8)

    init(
        _ name: String,
        status: Int = 200,
        before: String = "",
        fields: [String],
        travelling: Data,
        meaning body: Data? = nil
    ) {
        self.name = name
        let head = before + "HTTP/1.1 \(status) OK\r\n" + fields.map { $0 + "\r\n" }.joined() + "\r\n"
        wire = Data(head.utf8) + travelling
        meant = WireResponse(status: status, fields: fields, body: body ?? travelling)
    }

    func with(_ change: (inout FaultExchange) -> Void) -> FaultExchange {
        var exchange = self
        change(&exchange)
        return exchange
    }

    /// True if the request may be sent again without harm.
    var isIdempotent: Bool { method != .post }

    /// True if the request may be sent again and its body can be read again.
    var canBeSentAgain: Bool {
        if case .stream = upload { false } else { isIdempotent }
    }
}

extension FaultExchange {
    static let plain = FaultExchange(
        "plain",
        fields: ["Content-Type: text/plain", "X-Mark: 1", "Content-Length: \(text.count)"],
        travelling: text
    )

    static let chunked = FaultExchange(
        "chunked",
        fields: ["Content-Type: text/plain", "Transfer-Encoding: chunked"],
        travelling: inChunks(text, trailer: "X-Trailer: 1\r\n"),
        meaning: text
    )

    static let compressed = FaultExchange(
        "gzip",
        fields: ["Content-Encoding: gzip", "Content-Length: \(gzip.count)"],
        travelling: gzip,
        meaning: text
    )

    static let compressedChunks = FaultExchange(
        "gzip, chunked",
        fields: ["Content-Encoding: gzip", "Transfer-Encoding: chunked"],
        travelling: inChunks(gzip),
        meaning: text
    )

    static let untilClose = FaultExchange("until close", fields: ["X-Mark: 1"], travelling: text)
        .with { $0.isEndedByClose = true }

    static let compressedUntilClose = FaultExchange(
        "gzip, until close",
        fields: ["Content-Encoding: gzip"],
        travelling: gzip,
        meaning: text
    )
    .with { $0.isEndedByClose = true }

    static let empty = FaultExchange("no content", status: 204, fields: ["X-Mark: 1"], travelling: Data())

    static let head = FaultExchange("head", fields: ["Content-Length: \(text.count)"], travelling: Data())
        .with { $0.method = .head }

    static let hinted = FaultExchange(
        "early hints",
        before: "HTTP/1.1 103 Early Hints\r\nLink: </a>\r\n\r\n",
        fields: ["Content-Length: \(text.count)"],
        travelling: text
    )

    static func answer(_ name: String, _ method: HTTPMethod, _ upload: Upload) -> FaultExchange {
        FaultExchange(name, status: 201, fields: ["Content-Length: 2"], travelling: Data("ok".utf8)).with {
            $0.method = method
            $0.upload = upload
        }
    }

    static let uploads = [
        answer("POST", .post, .data), answer("PUT", .put, .data), answer("POST of a stream", .post, .stream),
        answer("PUT that asks", .put, .asking), answer("POST that asks", .post, .asking),
    ]

    private static func inChunks(_ data: Data, trailer: String = "") -> Data {
        let (first, second) = (data.prefix(5), data.dropFirst(5))
        var framed = Data("5;a=b\r\n".utf8) + first + Data("\r\n".utf8)
        framed += Data("\(String(second.count, radix: 16))\r\n".utf8) + second + Data("\r\n0\r\n\(trailer)\r\n".utf8)
        return framed
    }

    /// The same exchange on a connection that has been used before.
    var second: FaultExchange {
        FaultExchange(copying: self, name: name + ", kept connection")
    }

    private init(copying other: FaultExchange, name: String) {
        self.name = name
        method = other.method
        upload = other.upload
        isSecond = true
        isEndedByClose = other.isEndedByClose
        wire = other.wire
        meant = other.meant
    }
}
