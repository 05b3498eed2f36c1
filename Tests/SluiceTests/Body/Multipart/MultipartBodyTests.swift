import SluiceHTTP
import SluiceTesting
import Testing

@testable import Sluice

#if canImport(FoundationEssentials)
import FoundationEssentials
#else
import Foundation
#endif

@Suite struct MultipartBodyTests {
    private static func lines(_ lines: String...) -> String { lines.joined(separator: "\r\n") }

    @Test func partsAreSeparatedByBoundaries() async throws {
        var form = MultipartForm(boundary: "b")
        form.append(.text("Ada", name: "user"))
        form.append(.data(Data("xPNGx".utf8).dropFirst().dropLast(), name: "picture", fileName: "a.png"))
        form.append(.text("", name: "empty"))
        form.append(.stream(Chunks("a", "", "b"), name: "stream", contentType: "text/plain"))
        let expected = Self.lines(
            "--b",
            #"Content-Disposition: form-data; name="user""#,
            "",
            "Ada",
            "--b",
            #"Content-Disposition: form-data; name="picture"; filename="a.png""#,
            "Content-Type: image/png",
            "",
            "PNG",
            "--b",
            #"Content-Disposition: form-data; name="empty""#,
            "",
            "",
            "--b",
            #"Content-Disposition: form-data; name="stream""#,
            "Content-Type: text/plain",
            "",
            "ab",
            "--b--",
            ""
        )
        #expect(try await form.body().text() == expected)
    }

    @Test func nestedFormsHaveBoundariesOfTheirOwn() async throws {
        let files: MultipartForm = MultipartForm(.mixed, boundary: "inner")
            .adding(.text("A", fileName: "a.txt"), .text("B", fileName: "b.txt", contentType: "text/plain"))
        let form = MultipartForm(boundary: "outer").adding(.nested(files, name: "files"), .text("c", name: "d"))
        let expected = Self.lines(
            "--outer",
            #"Content-Disposition: form-data; name="files""#,
            "Content-Type: multipart/mixed; boundary=inner",
            "",
            "--inner",
            #"Content-Disposition: attachment; filename="a.txt""#,
            "",
            "A",
            "--inner",
            #"Content-Disposition: attachment; filename="b.txt""#,
            "Content-Type: text/plain",
            "",
            "B",
            "--inner--",
            "",
            "--outer",
            #"Content-Disposition: form-data; name="d""#,
            "",
            "c",
            "--outer--",
            ""
        )
        #expect(try await form.body().text() == expected)
    }

    @Test func aFormWithoutPartsIsTheClosingBoundary() async throws {
        let body = try MultipartForm(boundary: "b").body()
        #expect(body.length == 7)
        #expect(try await body.text() == "--b--\r\n")
        #expect(!body.isNone)
    }

    @Test func anArrayLiteralCreatesFormData() async throws {
        let form: MultipartForm = [.text("1", name: "a"), .text("2", name: "b")]
        #expect(form.subtype == .formData)
        #expect(form.parts.count == 2)
        #expect(try await form.body().text().hasSuffix("\r\n2\r\n--\(form.boundary)--\r\n"))
    }

    /// The type of the part is stated, and the encoder is the part's own, or that of the client.
    @Test func jsonPartsAreEncodedWhenTheFormIsSent() async throws {
        let (client, own) = (JSONEncoder(), JSONEncoder())
        client.keyEncodingStrategy = .convertToSnakeCase
        own.outputFormatting = .prettyPrinted
        var form = MultipartForm(boundary: "b")
        form.append(.json(Author(firstName: "Ada"), name: "user"))
        form.append(.json(["a": 1], name: "own", fileName: "a", contentType: "application/x+json", encoder: own))
        let expected = Self.lines(
            "--b",
            #"Content-Disposition: form-data; name="user""#,
            "Content-Type: application/json",
            "",
            #"{"first_name":"Ada"}"#,
            "--b",
            #"Content-Disposition: form-data; name="own"; filename="a""#,
            "Content-Type: application/x+json",
            "",
            "{\n  \"a\" : 1\n}",
            "--b--",
            ""
        )
        #expect(try await form.body(encoder: client).text() == expected)
        let server = try LoopbackServer()
        server.on("/echo") { .data($0.body) }
        let shop = APIClient(baseURL: server.url) { $0.encoder = client }
        #expect(try await shop.string.post("echo").multipart(form).sender().value == expected)
    }

    @Test func addingPartsDoesNotChangeTheOriginal() {
        let form = MultipartForm(.mixed).adding(.text("a"))
        let copy = form.adding(.text("b"), .text("c"))
        #expect(form.parts.count == 1)
        #expect(copy.parts.count == 3)
        #expect(copy.boundary == form.boundary && copy.subtype == .mixed)
    }

    /// True if the length is known in advance, true if the body can be sent again, and true if a file must be opened.
    @Test(
        arguments: [
            ([], true, true, false), ([.text("a")], true, true, false),
            ([.data(Data(count: 1 << 20))], true, true, false),
            ([.stream(Chunks("a"))], false, false, false), ([.stream(Chunks("a"), length: 1)], true, false, false),
            ([.stream(Chunks("a"), isReplayable: true), .text("a")], false, true, false),
            ([.stream(Chunks("a"), length: 1, isReplayable: true)], true, true, false),
            ([.stream(Chunks("a"), isReplayable: true), .stream(Chunks("a"))], false, false, false),
            ([.file(URL(filePath: "/no/such"))], false, true, true),
            ([.file(URL(filePath: "/no/such")), .stream(Chunks("a"))], false, false, true),
        ] as [([MultipartForm.Part], Bool, Bool, Bool)]
    )
    func bodyPropertiesFollowFromTheParts(
        parts: [MultipartForm.Part],
        hasLength: Bool,
        isReplayable: Bool,
        needsPreparation: Bool
    ) throws {
        var form = MultipartForm(.mixed)
        for part in parts { form.append(part) }
        // A nested form has the properties of its parts.
        for form in [form, MultipartForm(.mixed).adding(.nested(form))] {
            let body = try form.body()
            #expect((body.length != nil) == hasLength)
            #expect(body.isReplayable == isReplayable)
            #expect(body.needsPreparation == needsPreparation)
        }
    }

    @Test(
        arguments: [
            (
                [.text("a", name: "a"), .text("a")],
                "The part “#2” has no name. Every part of a form-data body requires a name."
            ),
            (
                [.stream(Chunks("a"), length: -1, name: "a\nb")],
                "The part “a?b” has a negative length: -1 bytes."
            ),
            (
                [.nested(MultipartForm().adding(.stream(Chunks("a"), length: -1)), name: "n")],
                "The part “n/#1” has a negative length: -1 bytes."
            ),
            (
                [.stream(Chunks("a"), length: .max, name: "a")],
                "The total length of the form's parts is more than 8 EiB."
            ),
            (
                [.json(["half": Double.infinity], name: "ratios")],
                "The part “ratios” cannot be sent. The request's body could not be encoded: at “half”, the encoder rejected a value of type Double."
            ),
            (
                [.nested(MultipartForm().adding(.json(Unencodable())), name: "n")],
                "The part “n/#1” cannot be sent. The request's body could not be encoded."
            ),
        ] as [([MultipartForm.Part], String)]
    )
    func invalidPartsAreRefused(parts: [MultipartForm.Part], reason: String) {
        var form = MultipartForm()
        for part in parts { form.append(part) }
        let error = #expect(throws: SluiceError.self) { try form.body() }
        #expect(error?.code == .encodingFailed)
        #expect(error?.step == .building)
        #expect(error?.reason == reason)
    }

    @Test func nestingDepthIsLimited() throws {
        var form = MultipartForm(.mixed)
        for _ in 1..<32 { form = MultipartForm(.mixed).adding(.nested(form)) }
        _ = try form.body()
        for _ in 0..<100_000 { form = MultipartForm(.mixed).adding(.nested(form)) }
        let error = #expect(throws: SluiceError.self) { try form.body() }
        #expect(error?.code == .encodingFailed)
        #expect(error?.reason == "Forms are nested more than 32 levels deep.")
    }
}

private struct Author: Encodable {
    let firstName: String
}

private struct Unencodable: Encodable {
    func encode(to encoder: any Encoder) throws { throw CancellationError() }
}
