import SluiceHTTP

#if canImport(FoundationEssentials)
import FoundationEssentials
#else
import Foundation
#endif

/// The file format of a ``CassetteTransport``: recorded exchanges as JSON that people can read, edit and review.
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
/// A body is stored as `json`, `text` or `base64`. `json` keeps the order of the members and drops insignificant white
/// space. JSON that is nested very deeply or contains unpaired surrogates is stored as `text`. A failed exchange has an
/// `error` with its `code` and `reason` in place of the response.
public struct Cassette: Sendable {
    /// The version that is written, and the newest version that can be read.
    public static let version = 1

    /// The exchanges, in recorded order.
    public var exchanges: [RecordedExchange]

    /// Creates a cassette.
    public init(exchanges: [RecordedExchange] = []) {
        self.exchanges = exchanges
    }

    /// Creates a cassette from its JSON text.
    ///
    /// - Parameters:
    ///   - data: The JSON text.
    ///   - name: The name of the cassette in error messages.
    /// - Throws: A ``SluiceError`` with the code `cassetteUnreadable`. Its message names the problem: the place where the
    ///   text ends early, the unsupported version, or the exchange that lacks a value.
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

    /// The JSON text of the cassette.
    public var data: Data { Self.data(of: exchanges.map(Self.text)) }

    /// Returns the text of an exchange, indented as in a cassette.
    static func text(of exchange: RecordedExchange) -> String {
        CassetteCoding.node(of: exchange).text(indentedBy: 2)
    }

    /// Returns the text of a cassette that contains exchanges with the given texts.
    static func data(of exchanges: [String]) -> Data {
        var text = "{\n  \"exchanges\": ["
        for (place, exchange) in exchanges.enumerated() { text += (place == 0 ? "\n    " : ",\n    ") + exchange }
        text += (exchanges.isEmpty ? "" : "\n  ") + "],\n  \"version\": \(version)\n}\n"
        return Data(text.utf8)
    }
}

extension SluiceError.Code {
    /// A cassette or an archive cannot be read: the file is missing, damaged, truncated or of a newer version.
    public static let cassetteUnreadable = SluiceError.Code("cassetteUnreadable")
    /// A cassette or an archive has no exchange that matches the request.
    public static let cassetteUnmatched = SluiceError.Code("cassetteUnmatched")
    /// A cassette could not be written.
    public static let cassetteUnwritable = SluiceError.Code("cassetteUnwritable")
}

extension SluiceError {
    static func unreadableCassette(_ name: String, _ reason: String) -> SluiceError {
        SluiceError(.cassetteUnreadable, "The cassette “\(name)” cannot be read: \(reason).")
    }
}
