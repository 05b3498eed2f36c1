@testable import SluiceHTTP
@testable import SluiceTesting

#if canImport(FoundationEssentials)
import FoundationEssentials
#else
import Foundation
#endif

extension FuzzTarget {
    /// Parses the requests that the test server receives. Their bodies have the announced length.
    static let loopbackRequest = FuzzTarget("loopback-request") { bytes in
        let whole = try outcomes(of: bytes)
        for outcome in whole {
            guard case .request(let request, _) = outcome else { continue }
            try require(request.method.rawValue.utf8.allSatisfy(\.isTokenCharacter), "A method is not a token.")
            try require(
                !request.target.utf8.contains(0x20) && !request.target.isEmpty,
                "A target is empty or contains a space."
            )
            try require(
                request.headers.firstInvalidField?.name.rawValue.utf8.contains(0x0A) != true,
                "A field name contains a line feed."
            )
            let coding = request.headers[.transferEncoding]
            if coding == nil, let length = request.headers[.contentLength] {
                try require(
                    "\(request.body.count)" == "\(Int(length) ?? -1)",
                    "A body has another length than announced."
                )
                let isNumber = !length.isEmpty && length.utf8.allSatisfy { (0x30...0x39).contains($0) }
                try require(isNumber, "The length \(length) is accepted.")
            }
            if coding == nil, !request.headers.contains(.contentLength) {
                try require(request.body.isEmpty, "There is a body without Content-Length.")
            }
            let path = request.target.utf8.prefix { $0 != UInt8(ascii: "?") }
            if path.first == UInt8(ascii: "/") {
                try require(request.path.utf8.elementsEqual(path), "The path differs from the target before the query.")
            }
        }
    }

    /// Returns all outcomes of a connection that carries the bytes and then ends.
    private static func outcomes(of bytes: UnsafeRawBufferPointer) throws -> [RequestReader.Outcome] {
        let (client, server) = try StreamSocket.pair()
        defer {
            client.close()
            server.close()
        }
        // The input is far smaller than a socket buffer.
        let sent = bytes.isEmpty ? 0 : client.sendNow(bytes)
        try require(sent == bytes.count, "The socket does not take the whole input.")
        client.finishSending()
        let routes = RouteTable()
        routes.onExpectation { _ in .ignored }
        var reader = RequestReader(socket: server, log: TrafficLog(), routes: routes)
        var outcomes: [RequestReader.Outcome] = []
        while true {
            let outcome = reader.next(connection: 1)
            outcomes.append(outcome)
            switch outcome {
            case .request, .refused: break
            case .malformed, .end: return outcomes
            }
        }
    }
}
