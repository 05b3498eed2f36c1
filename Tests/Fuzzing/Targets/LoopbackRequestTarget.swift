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
            try promise(request.method.rawValue.utf8.allSatisfy(\.isTokenCharacter), "A method is no token.")
            try promise(!request.target.utf8.contains(0x20) && !request.target.isEmpty, "A target is none.")
            try promise(
                request.headers.firstInvalidField?.name.rawValue.utf8.contains(0x0A) != true,
                "A name has two lines."
            )
            let coding = request.headers[.transferEncoding]
            if coding == nil, let length = request.headers[.contentLength] {
                try promise("\(request.body.count)" == "\(Int(length) ?? -1)", "A body is of another length.")
                let isNumber = !length.isEmpty && length.utf8.allSatisfy { (0x30...0x39).contains($0) }
                try promise(isNumber, "The length \(length) is taken for a number.")
            }
            if coding == nil, !request.headers.contains(.contentLength) {
                try promise(request.body.isEmpty, "There is a body that nobody announced.")
            }
            let path = request.target.utf8.prefix { $0 != UInt8(ascii: "?") }
            if path.first == UInt8(ascii: "/") {
                try promise(request.path.utf8.elementsEqual(path), "A path goes on in the query.")
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
        try promise(sent == bytes.count, "The socket is full.")
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
