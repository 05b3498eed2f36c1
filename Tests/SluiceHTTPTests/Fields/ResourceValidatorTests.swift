import Foundation
import SluiceHTTP
import SluiceTesting
import Testing

@testable import SluiceHTTP

@Suite struct ResourceValidatorTests {
    private static let early = "Sun, 06 Nov 1994 08:49:37 GMT"
    private static let aMinuteLater = "Sun, 06 Nov 1994 08:50:37 GMT"
    private static let almostAMinuteLater = "Sun, 06 Nov 1994 08:50:36 GMT"

    private static func head(_ fields: [(HTTPHeaderName, String)]) -> HTTPResponse {
        HTTPResponse(status: .ok, headers: HTTPHeaders(fields))
    }

    /// RFC 9110 §8.8.3 for entity tags, §8.8.2.2 for dates, §13.1.5 for their precedence.
    private static let validators: [([(HTTPHeaderName, String)], ResourceValidator?)] = [
        ([], nil),
        ([("ETag", "\"xyzzy\"")], .entityTag("\"xyzzy\"")),
        ([("ETag", "\"xyz,zy é W/\\!\"")], nil),
        ([("ETag", "\"a,b/é\\!\"")], .entityTag("\"a,b/é\\!\"")),
        ([("ETag", "W/\"xyzzy\"")], nil),
        ([("ETag", "\"\"")], nil),
        ([("ETag", "xyzzy")], nil),
        ([("ETag", "\"xyzzy")], nil),
        ([("ETag", "\"")], nil),
        ([("ETag", "W/")], nil),
        ([("ETag", "w/\"xyzzy\"")], nil),
        ([("ETag", "\"a\"b\"")], nil),
        ([("ETag", "\"a\""), ("ETag", "\"b\"")], nil),
        ([("Last-Modified", early), ("Date", aMinuteLater)], .lastModified(early)),
        ([("Last-Modified", early), ("Date", almostAMinuteLater)], nil),
        ([("Last-Modified", aMinuteLater), ("Date", early)], nil),
        ([("Last-Modified", early)], nil),
        ([("Last-Modified", early), ("Date", "soon")], nil),
        ([("Last-Modified", "long ago"), ("Date", aMinuteLater)], nil),
        ([("ETag", "\"a\""), ("Last-Modified", early), ("Date", aMinuteLater)], .entityTag("\"a\"")),
        ([("ETag", "W/\"a\""), ("Last-Modified", early), ("Date", aMinuteLater)], nil),
        ([("ETag", "unquoted"), ("Last-Modified", early), ("Date", aMinuteLater)], .lastModified(early)),
    ]

    @Test(arguments: validators)
    func onlyStrongValidatorsAreUsed(_ fields: [(HTTPHeaderName, String)], _ validator: ResourceValidator?) {
        #expect(ResourceValidator(of: Self.head(fields)) == validator)
    }

    private static let comparisons: [(ResourceValidator, [(HTTPHeaderName, String)], Bool?)] = [
        (.entityTag("\"a\""), [("ETag", "\"a\"")], true),
        (.entityTag("\"a\""), [("ETag", "\"b\"")], false),
        (.entityTag("\"a\""), [("ETag", "W/\"a\"")], false),
        (.entityTag("\"a\""), [("ETag", "\"A\"")], false),
        (.entityTag("\"a\""), [("ETag", "a")], false),
        (.entityTag("\"a\""), [("ETag", "\"a\""), ("ETag", "\"a\"")], false),
        (.entityTag("\"a\""), [("Last-Modified", early)], false),
        (.entityTag("\"a\""), [], false),
        (.lastModified(early), [("Last-Modified", early)], true),
        (.lastModified(early), [("Last-Modified", "Sunday, 06-Nov-94 08:49:37 GMT")], false),
        (.lastModified(early), [("Last-Modified", "Sun, 06 Nov 1994 08:49:37 gmt")], false),
        (.lastModified(early), [("Last-Modified", early), ("Last-Modified", early)], false),
        (.lastModified(early), [("Last-Modified", aMinuteLater)], false),
        (.lastModified(early), [("Last-Modified", "long ago")], false),
        (.lastModified(early), [("ETag", "\"a\"")], nil),
    ]

    @Test(arguments: comparisons)
    func validatorIsComparedWithALaterResponse(
        _ validator: ResourceValidator,
        _ fields: [(HTTPHeaderName, String)],
        _ isSame: Bool?
    ) {
        #expect(validator.matches(Self.head(fields)) == isSame)
    }

    @Test func validatorsThatDifferInAnyByteAreOfTwoVersions() throws {
        var random = SeededGenerator(seed: 8830)
        let tags = [Array("\"a-b\"".utf8), Array("\"caf\u{E9}\"".utf8), [0x22, 0xFF, 0xFE, 0x22]]
        let dates = [Self.early, "Sunday, 06-Nov-94 08:49:37 GMT"].map { Array($0.utf8) }
        for (name, value) in tags.map({ (HTTPHeaderName.eTag, $0) }) + dates.map({ (.lastModified, $0) }) {
            func head(_ bytes: [UInt8]) -> HTTPResponse {
                var head = Self.head([("Date", Self.aMinuteLater)])
                head.headers.replaceValues(of: name, with: FieldValue(bytes: bytes))
                return head
            }
            let validator = try #require(ResourceValidator(of: head(value)))
            #expect(validator.matches(head(value)) == true)
            for _ in 0..<300 {
                var other = value
                let index = other.indices.randomElement(using: &random) ?? 0
                other[index] = .random(in: 0x21...0xFF, using: &random)
                #expect(validator.matches(head(other)) == (other == value))
                if let changed = ResourceValidator(of: head(other)) {
                    #expect((changed == validator) == (other == value))
                }
            }
        }
        // The same text for Unicode, in other bytes.
        let composed = ResourceValidator.entityTag("\"caf\u{E9}\"")
        #expect(composed.matches(Self.head([("ETag", "\"cafe\u{301}\"")])) == false)
    }

    @Test func ifRangeValueIsTheValidatorAsReceived() {
        #expect(ResourceValidator.entityTag("\"a\"").ifRangeValue == "\"a\"")
        #expect(ResourceValidator.lastModified(Self.early).ifRangeValue == FieldValue(Self.early))
    }

    @Test(arguments: [ResourceValidator.entityTag("\"a\\é\""), .lastModified(early)])
    func validatorRoundTripsThroughJSON(_ validator: ResourceValidator) throws {
        let json = try JSONEncoder().encode(validator)
        #expect(try JSONDecoder().decode(ResourceValidator.self, from: json) == validator)
    }
}
