import Foundation
import SluiceHTTP
import Testing

@testable import SluiceTesting

@Suite struct ResourceValidatorsTests {
    /// Half a second after the date in the fields.
    private static let date = Date(timeIntervalSince1970: 784_111_777.5)
    private static let text = "Sun, 06 Nov 1994 08:49:37 GMT"
    private static let earlier = "Sun, 06 Nov 1994 08:49:36 GMT"
    private static let later = "Sun, 06 Nov 1994 08:49:38 GMT"

    @Test(
        arguments: [
            (nil, true), ("\"a\"", true), ("\"b\"", false), ("W/\"a\"", false), ("a", false), ("", false), ("*", false),
            (text, true), (earlier, false), (later, false),
        ] as [(String?, Bool)]
    )
    func comparesIfRangeStrongly(field: String?, allows: Bool) {
        let validators = ResourceValidators(eTag: "\"a\"", lastModified: Self.date)
        #expect(validators.allowRange(field) == allows)
    }

    @Test func weakTagDoesNotAllowRange() {
        #expect(!ResourceValidators(eTag: "W/\"a\"", lastModified: nil).allowRange("W/\"a\""))
    }

    @Test func missingValidatorsDoNotAllowRange() {
        #expect(!ResourceValidators(eTag: nil, lastModified: nil).allowRange("\"a\""))
        #expect(!ResourceValidators(eTag: nil, lastModified: nil).allowRange(Self.text))
    }

    @Test(
        arguments: [
            ([:], .proceed),
            (["If-None-Match": "\"a\""], .notModified),
            (["If-None-Match": "\"x\", W/\"a\" , \"b\""], .notModified),
            (["If-None-Match": "*"], .notModified),
            (["If-None-Match": "\"b\""], .proceed),
            (["If-None-Match": "\"b\"", "If-Modified-Since": text], .proceed),
            (["If-Modified-Since": text], .notModified),
            (["If-Modified-Since": later], .notModified),
            (["If-Modified-Since": earlier], .proceed),
            (["If-Modified-Since": "yesterday"], .proceed),
            (["If-Match": "\"a\""], .proceed),
            (["If-Match": "*"], .proceed),
            (["If-Match": "W/\"a\""], .failed),
            (["If-Match": "\"b\""], .failed),
            (["If-Match": "\"a\"", "If-Unmodified-Since": earlier], .proceed),
            (["If-Unmodified-Since": text], .proceed),
            (["If-Unmodified-Since": earlier], .failed),
            (["If-Match": "\"b\"", "If-None-Match": "\"a\""], .failed),
        ] as [(HTTPHeaders, ResourceValidators.Verdict)]
    )
    func evaluatesPreconditionsInOrder(headers: HTTPHeaders, verdict: ResourceValidators.Verdict) {
        #expect(ResourceValidators(eTag: "\"a\"", lastModified: Self.date).verdict(on: headers) == verdict)
    }
}
