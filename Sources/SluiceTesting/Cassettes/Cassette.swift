import SluiceHTTP

#if canImport(FoundationEssentials)
import FoundationEssentials
#else
import Foundation
#endif

/// The file of a ``CassetteTransport``: exchanges as JSON that people can read, edit and review.
///
///     {
///       "exchanges": [
///         {
///           "request": { "headers": ["Accept: application/json"], "method": "GET", "url": "https://shop.example/users/1" },
///           "response": { "body": { "json": { "id": 1 } }, "headers": ["Content-Type: application/json"], "status": 200 }
///         }
///       ],
///       "version": 1
///     }
///
/// A body is `json`, which keeps the order of members and loses the white space, `text`, as also JSON that is nested very deeply or holds
/// half characters, or `base64`. A failure of the network is an `error` with its `code` and `reason` in the response's place.
public struct Cassette: Sendable {
    /// The version that is written, and the newest that is read.
    public static let version = 1

    /// The exchanges in their order.
    public var exchanges: [RecordedExchange]

    /// Makes a cassette.
    public init(exchanges: [RecordedExchange] = []) {
        self.exchanges = exchanges
    }

    /// Reads the text of a cassette.
    ///
    /// - Parameters:
    ///   - data: The text.
    ///   - name: What errors call it.
    /// - Throws: A ``SluiceError`` of code `cassetteUnreadable` that says what is wrong: where the text breaks off, which version it is of,
    ///   which exchange lacks what.
    public init(_ data: Data, named name: String = "cassette") throws(SluiceError) {
        do {
            let root = try JSONNode.recording(data)
            guard let version = root["version"]?.integer else { throw RecordingFailure("it has no version") }
            guard version <= Self.version, version > 0 else {
                throw RecordingFailure(
                    "it is of version \(version), and \(Self.version) is the newest that is known"
                )
            }
            guard let nodes = root["exchanges"]?.array else { throw RecordingFailure("it has no exchanges") }
            exchanges = []
            for (place, node) in nodes.enumerated() {
                do {
                    exchanges.append(try CassetteCoding.exchange(of: node))
                } catch {
                    throw RecordingFailure("exchange \(place + 1) \(error)")
                }
            }
        } catch {
            throw .unreadableCassette(name, "\(error)")
        }
    }

    /// The text of the cassette.
    public var data: Data { Self.data(of: exchanges.map(Self.text)) }

    /// The text of an exchange, as it stands in that of a cassette.
    static func text(of exchange: RecordedExchange) -> String {
        CassetteCoding.node(of: exchange).text(indentedBy: 2)
    }

    /// The text of a cassette with exchanges of these texts.
    static func data(of exchanges: [String]) -> Data {
        var text = "{\n  \"exchanges\": ["
        for (place, exchange) in exchanges.enumerated() { text += (place == 0 ? "\n    " : ",\n    ") + exchange }
        text += (exchanges.isEmpty ? "" : "\n  ") + "],\n  \"version\": \(version)\n}\n"
        return Data(text.utf8)
    }
}

extension SluiceError.Code {
    /// A cassette or an archive cannot be read: it is missing, damaged, cut short or of a newer version.
    public static let cassetteUnreadable = SluiceError.Code("cassetteUnreadable")
    /// A cassette or an archive has no exchange for the request.
    public static let cassetteUnmatched = SluiceError.Code("cassetteUnmatched")
    /// A cassette could not be written.
    public static let cassetteUnwritable = SluiceError.Code("cassetteUnwritable")
}

extension SluiceError {
    static func unreadableCassette(_ name: String, _ reason: String) -> SluiceError {
        SluiceError(.cassetteUnreadable, "The cassette “\(name)” cannot be read: \(reason).")
    }
}
