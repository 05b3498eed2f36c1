import Foundation
import SluiceTesting
import Testing

@testable import Sluice
@testable import SluiceHTTP
@testable import SluiceJSON

/// The texts of the errors that Sluice makes of URLs, fields and bodies contain no secret.
@Suite struct SecretErrorTests {
    private enum Level: String, Decodable, JSONDecodable { case low, high }

    private struct Setting: Decodable, JSONDecodable {
        var value: Level

        private enum CodingKeys: String, CodingKey { case value }

        init(from decoder: any Decoder) throws {
            value = try decoder.container(keyedBy: CodingKeys.self).decode(Level.self, forKey: .value)
        }

        init(json: JSON) throws {
            value = try json.value(at: "value")
        }
    }

    private func search(_ error: SluiceError, _ search: SecretSearch) {
        search.look("the error", error)
        search.read("its localized description", error.localizedDescription)
        search.read("its expanded description", error.expandedDescription)
        search.look("its cause", error.underlyingError as? DecodingFailure)
        search.read("its reason", error.reason)
    }

    /// Decodes a body as several models, all of which fail.
    private func decode(_ body: Data, _ search: SecretSearch) {
        let types: [any Decodable.Type] = [
            Level.self, Setting.self, [Level].self, [Setting].self, [String: Level].self, [[Level]].self,
            [String: [[String: Level]]].self, [String: [Level]].self, [String: [[Level]]].self, [String: Setting].self,
        ]
        for type in types {
            for decoder in [JSONDecoder(), LenientJSONDecoder(), LenientJSONDecoder(convertsTypes: false)]
                as [any DataDecoder]
            {
                do {
                    _ = try decoder.decode(type, from: body)
                } catch {
                    self.search(.undecodable(DecodingFailure(type, body: body, cause: error)), search)
                }
            }
        }
        for type in [Level.self, Setting.self] as [any JSONDecodable.Type] {
            do throws(JSONDecodingFailure) {
                if let json = try? JSON(parsing: body) { _ = try type.init(json: json, at: JSONPath()) }
            } catch {
                self.search(.undecodable(DecodingFailure(type, body: body, failure: error)), search)
            }
        }
    }

    @Test(arguments: [UInt64](0..<8))
    func decodingErrorsHaveNoSecret(_ batch: UInt64) async {
        for seed in batch * 4..<(batch + 1) * 4 {
            var documents = SecretDocuments(seed: seed)
            let search = SecretSearch(documents.secret)
            decode(documents.body().0, search)
            decode(Data(documents.json(depth: 0).utf8), search)
            #expect(search.sightings.isEmpty, "seed \(seed): \(search.sightings)")
            // Lets other tests go on, some of which measure time.
            await Task.yield()
        }
    }

    @Test(arguments: [
        #"{"name":"password","value":"s3cretZ"}"#, #"{"token":{"a":"s3cretZ"}}"#, #"{"secret":["s3cretZ"]}"#,
        #"{"value":"https://ada:s3cretZ@b.c/"}"#, #"{"type":"token","value":"s3cretZ"}"#,
    ])
    func valueOfEnumBesideSecretNameIsNotShown(_ body: String) {
        let search = SecretSearch("s3cretZ")
        decode(Data(body.utf8), search)
        #expect(search.sightings.isEmpty && search.count > 50, "\(search.sightings)")
    }

    @Test func valueBelowSecretKeyPathIsNotShown() throws {
        let search = SecretSearch("s3cretZ")
        for body in [#""s3cretZ""#, #"{"value":"s3cretZ"}"#] {
            for type in [Level.self, Setting.self] as [any Decodable.Type] {
                do {
                    _ = try JSONDecoder().decode(type, from: Data(body.utf8))
                } catch {
                    let failure = DecodingFailure(type, body: Data(body.utf8), cause: error).inside("user.credentials")
                    self.search(.undecodable(failure), search)
                    #expect(failure.codingPath.hasPrefix("user.credentials"))
                }
            }
        }
        #expect(search.sightings.isEmpty && search.count > 20, "\(search.sightings)")
    }

    /// A mark may combine with a quotation mark of the reason, so that only those of the value are characters of their own.
    @Test func valueBelowSecretKeyPathMayContainQuotationMarks() throws {
        let body = Data(#""\#u{301}”s3cretZ“y\#u{600}""#.utf8)
        do {
            _ = try JSONDecoder().decode(Level.self, from: body)
            Issue.record("The value was decoded.")
        } catch {
            let failure = DecodingFailure(Level.self, body: body, cause: error)
            #expect(failure.reason.contains("s3cretZ"), "\(failure.reason)")
            let hidden = failure.inside("session").reason
            #expect(!hidden.contains("s3cretZ") && hidden.contains("the value"), "\(hidden)")
        }
    }

    @Test(arguments: [UInt64](0..<8))
    func urlErrorsHaveNoSecret(_ batch: UInt64) {
        for seed in batch * 100..<(batch + 1) * 100 {
            var documents = SecretDocuments(seed: seed)
            let search = SecretSearch(documents.secret)
            let secret = documents.secret
            let start = documents.pick([
                "htp://b.c", "https://ada:\(secret)@", "https://ada:\(secret)@b c", "ada:\(secret)@b.c",
                "https://b.c:x",
                "", "https://ada:\(secret)@b.c:99999", "//ada:\(secret)@b.c", "https:///", "ftp://ada:\(secret)@b.c",
            ])
            let url = start + documents.path()
            do throws(SluiceError) {
                _ = try RequestLocation(parsing: url)
                _ = try RequestLocation(parsing: "https://b.c/").resolving(url)
            } catch {
                self.search(error, search)
            }
            #expect(search.sightings.isEmpty, "seed \(seed): \(search.sightings)")
        }
    }
}
