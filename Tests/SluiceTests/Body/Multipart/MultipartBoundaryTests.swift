import Sluice
import SluiceTesting
import Testing

@Suite struct MultipartBoundaryTests {
    private static let allowed =
        "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789'()+_,-./:=? "

    @Test(
        arguments: [
            ("a", "a"), ("----WebKitFormBoundary7MA4YWxkTrZu0gW", "----WebKitFormBoundary7MA4YWxkTrZu0gW"),
            ("a b", #""a b""#), ("'+_-.", "'+_-."), ("gc0pJq0M:08jU534c0p", #""gc0pJq0M:08jU534c0p""#),
            ("(),/:=?", #""(),/:=?""#), (String(repeating: "=", count: 70), "\"\(String(repeating: "=", count: 70))\""),
        ]
    )
    func aValidBoundaryIsQuotedIfNecessary(boundary: String, value: String) throws {
        let form = MultipartForm(boundary: boundary)
        #expect(form.contentType == "multipart/form-data; boundary=\(value)")
        #expect(form.boundary == boundary)
        _ = try form.body()
    }

    @Test(
        arguments: [
            "", " ", "a ", String(repeating: "a", count: 71), "a\"b", "a\\b", "a\r\nb", "a\0", "ä", "a;b", "a*b",
            "a\tb",
            "a@b",
        ]
    )
    func anInvalidBoundaryIsRefused(boundary: String) {
        let error = #expect(throws: SluiceError.self) { try MultipartForm(boundary: boundary).body() }
        #expect(error?.code == .encodingFailed)
        #expect(error?.step == .building)
        let nested = MultipartForm().adding(.nested(MultipartForm(boundary: boundary), name: "n"))
        #expect(throws: SluiceError.self) { try nested.body() }
    }

    @Test func onlyTheBytesOfRFC2046AreAllowed() {
        for byte in UInt8.min...127 {
            let boundary = "a\(Character(UnicodeScalar(byte)))a"
            let isAllowed = Self.allowed.utf8.contains(byte)
            #expect(((try? MultipartForm(boundary: boundary).body()) != nil) == isAllowed, "\(byte)")
        }
    }

    @Test func aRandomBoundaryHas128Bits() throws {
        let boundaries = Set((0..<1000).map { _ in MultipartForm().boundary })
        #expect(boundaries.count == 1000)
        for boundary in boundaries {
            #expect(boundary.utf8.count == 39)
            #expect(boundary.hasPrefix("sluice-"))
            #expect(boundary.dropFirst(7).allSatisfy { "0123456789abcdef".contains($0) })
        }
        _ = try MultipartForm().body()
    }

    @Test func aSeededGeneratorGivesTheSameBoundary() {
        struct Constant: RandomNumberGenerator {
            func next() -> UInt64 { 1 }
        }
        var (first, second) = (SeededGenerator(seed: 7), SeededGenerator(seed: 7))
        #expect(MultipartForm(using: &first).boundary == MultipartForm(.mixed, using: &second).boundary)
        #expect(MultipartForm(using: &first).boundary != MultipartForm(boundary: "x").boundary)
        var constant = Constant()
        #expect(MultipartForm(using: &constant).boundary == "sluice-00000000000000010000000000000001")
    }

    @Test(arguments: [("x", "x"), ("x", "xy"), ("xy", "x")])
    func aNestedBoundaryThatMatchesAnOuterOneIsRefused(outer: String, inner: String) {
        let innermost = MultipartForm(.mixed, boundary: inner)
        for middle in [innermost, MultipartForm(.mixed, boundary: "other").adding(.nested(innermost))] {
            let form = MultipartForm(boundary: outer).adding(.nested(middle, name: "n"))
            let error = #expect(throws: SluiceError.self) { try form.body() }
            #expect(error?.code == .encodingFailed)
        }
    }

    @Test func siblingFormsMayShareABoundary() throws {
        let inner = MultipartForm(.mixed, boundary: "inner")
        _ = try MultipartForm(boundary: "x").adding(.nested(inner, name: "a"), .nested(inner, name: "b")).body()
    }

    @Test(
        arguments: [
            ([], ""), ([.text("{}", contentType: "application/json; charset=utf-8")], #"; type="application/json""#),
            ([.text("a"), .text("b", contentType: "x/y")], #"; type="text/plain""#),
            ([.text("a", headers: ["content-type": "a/b"])], #"; type="a/b""#),
            ([.text("a", contentType: "a\"b/c")], ""), ([.text("a", contentType: "")], ""),
            ([.nested(MultipartForm())], #"; type="multipart/mixed""#),
        ] as [([MultipartForm.Part], String)]
    )
    func aRelatedFormStatesTheTypeOfItsRoot(parts: [MultipartForm.Part], type: String) {
        var form = MultipartForm(.related, boundary: "b")
        for part in parts { form.append(part) }
        #expect(form.contentType == "multipart/related\(type); boundary=b")
    }
}
