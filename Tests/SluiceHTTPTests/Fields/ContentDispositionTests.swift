import SluiceHTTP
import Testing

@testable import Sluice
@testable import SluiceHTTP

@Suite struct ContentDispositionTests {
    /// RFC 6266 §4 and §5, RFC 8187 §3.2, RFC 9110 §5.6.4 for quoted strings.
    private static let names: [(text: String, name: String?)] = [
        ("attachment", nil),
        ("attachment; filename=example.html", "example.html"),
        ("Attachment; FileName=example.html", "example.html"),
        ("attachment;filename=\"an example.html\"", "an example.html"),
        ("attachment ; filename = \"an example.html\" ", "an example.html"),
        (#"attachment; filename="f\oo\"bar\\.html""#, #"foo"bar\.html"#),
        (#"attachment; filename="a;b=c.txt"; size=3"#, "a;b=c.txt"),
        ("attachment; filename=\"€.txt\"", "€.txt"),
        ("attachment; filename='a.txt'", "'a.txt'"),
        ("attachment; filename=a b.txt", "a b.txt"),
        ("attachment; filename=a.txt;", "a.txt"),
        ("attachment;; ;filename=a.txt", "a.txt"),
        // Percent-encoding is not decoded here.
        ("attachment; filename=\"%E2%82%AC%20rates.txt\"", "%E2%82%AC%20rates.txt"),
        ("attachment; filename*=UTF-8''%e2%82%ac%20rates.txt", "€ rates.txt"),
        ("attachment; filename*=utf-8'en'%C2%A3.txt", "£.txt"),
        ("attachment; filename*=ISO-8859-1'en'%A3%20rates", "£ rates"),
        ("attachment; filename*=UTF-8''a'b(1).txt", "a'b(1).txt"),
        // The extended parameter takes precedence in any position (RFC 6266 §4.3).
        ("attachment; filename=\"EUR.txt\"; filename*=UTF-8''%e2%82%ac.txt", "€.txt"),
        ("attachment; filename*=UTF-8''%e2%82%ac.txt; filename=\"EUR.txt\"", "€.txt"),
        // If one parameter is invalid, the other is used.
        ("attachment; filename=EUR.txt; filename*=UTF-16''%e2%82%ac.txt", "EUR.txt"),
        ("attachment; filename=EUR.txt; filename*=UTF-8''%e2%82.txt", "EUR.txt"),
        ("attachment; filename=EUR.txt; filename*=UTF-8''%zz.txt", "EUR.txt"),
        ("attachment; filename=EUR.txt; filename*=UTF-8''%e", "EUR.txt"),
        ("attachment; filename=EUR.txt; filename*=UTF-8''%", "EUR.txt"),
        ("attachment; filename=EUR.txt; filename*=UTF-8'x.txt", "EUR.txt"),
        ("attachment; filename=EUR.txt; filename*=UTF-8''", "EUR.txt"),
        ("attachment; filename=EUR.txt; filename*=x.txt", "EUR.txt"),
        ("attachment; filename=EUR.txt; filename*=\"UTF-8''x.txt\"", "EUR.txt"),
        ("attachment; filename=EUR.txt; filename*=UTF-8''€.txt", "EUR.txt"),
        // The first of each is used.
        ("attachment; filename=a.txt; filename=b.txt", "a.txt"),
        ("attachment; filename*=UTF-8''%zz; filename*=UTF-8''b.txt", "b.txt"),
        ("attachment; filename=\"a.txt", "a.txt"),
        (#"attachment; filename="a.txt\"#, #"a.txt\"#),
        ("attachment; filename=\"a.txt\"x; size=3", "a.txt"),
        ("attachment; filename", nil),
        ("attachment; filename=", nil),
        ("attachment; filename=\"\"", nil),
        ("attachment; filename=; size=3", nil),
        ("attachment; fil ename=a.txt", nil),
        ("attachment; xfilename=a.txt", nil),
        ("attachment; name=a.txt", nil),
        ("inline; filename=\"../../etc/passwd\"", "../../etc/passwd"),
    ]

    @Test(arguments: names)
    func fileNameIsParsed(_ text: String, _ name: String?) throws {
        #expect(try #require(ContentDisposition(text)).fileName == name)
    }

    @Test(arguments: [
        "", " ", ";", "; filename=a.txt", "filename=a.txt", "\"attachment\"; filename=a.txt", "at tach", "é",
    ])
    func rejectsValuesWithoutAType(_ text: String) {
        #expect(ContentDisposition(text) == nil)
    }

    @Test func typeIsLowercased() {
        #expect(ContentDisposition("INLINE")?.type == "inline")
        #expect(ContentDisposition(" x-other ;a=b")?.type == "x-other")
    }

    @Test func firstValidFieldIsUsed() {
        let headers = HTTPHeaders([
            ("Content-Disposition", "filename=bad"), ("Content-Disposition", "attachment; filename=a"),
            ("Content-Disposition", "attachment; filename=b"),
        ])
        #expect(ContentDisposition(of: HTTPResponse(status: .ok, headers: headers))?.fileName == "a")
        #expect(ContentDisposition(of: HTTPResponse(status: .ok)) == nil)
    }

    @Test func nameMayBeInLatin1() {
        var headers = HTTPHeaders()
        let bytes = Array("attachment; filename=\"r".utf8) + [0xE9] + Array("sum".utf8) + [0xE9] + Array("\"".utf8)
        headers.append(.contentDisposition, value: FieldValue(bytes: bytes[...]))
        #expect(ContentDisposition(of: HTTPResponse(status: .ok, headers: headers))?.fileName == "résumé")
    }

    /// RFC 6266 §4.3 and Appendix D: the recipient decides about a suggested name.
    private static let suggestions: [(disposition: String?, path: String, name: String)] = [
        (nil, "/files/report.pdf", "report.pdf"),
        (nil, "/files/report.pdf?page=1/2#end", "report.pdf"),
        (nil, "https://example.com/files/report.pdf?x=y", "report.pdf"),
        (nil, "/files/a%20b%2Epdf", "a b.pdf"),
        (nil, "/files/%E2%82%AC.txt", "€.txt"),
        (nil, "/files/%E2%82.txt", "%E2%82.txt"),
        (nil, "/files/100%.txt", "100%.txt"),
        (nil, "/files/%", "%"),
        (nil, "/files/..%2F..%2Fetc%2Fpasswd", "passwd"),
        (nil, "/files/%2e%2e", "download"),
        (nil, "/files/%00", "download"),
        (nil, "/files/", "files"),
        (nil, "/", "download"),
        (nil, "", "download"),
        (nil, "?a=/b.txt", "download"),
        (nil, "https://example.com", "download"),
        (nil, "https://example.com?a=b", "download"),
        (nil, "/redirect/https://example.com/a.txt", "a.txt"),
        ("attachment; filename=a.txt", "/b.txt", "a.txt"),
        ("attachment; filename=\"/etc/passwd\"", "/b.txt", "passwd"),
        ("attachment; filename=\"..\"", "/b.txt", "b.txt"),
        ("attachment", "/b.txt", "b.txt"),
        ("attachment; filename=download", "/b.txt", "download"),
        ("nonsense=", "/b.txt", "b.txt"),
    ]

    @Test(arguments: suggestions)
    func suggestsAFileName(_ disposition: String?, _ path: String, _ name: String) {
        var head = HTTPResponse(status: .ok)
        if let disposition { head.headers["Content-Disposition"] = disposition }
        #expect(head.fileName(path: path) == name)
    }

    @Test(
        arguments: [
            (nil, nil), ("attachment", nil), ("attachment; filename=..", nil), ("attachment; filename=a.txt", "a.txt"),
            ("inline; filename=\"../b.txt\"", "b.txt"), ("attachment; filename=download", "download"),
        ] as [(String?, String?)]
    )
    func headHasASafeNameIfTheServerSuggestsOne(_ disposition: String?, _ name: String?) {
        var head = HTTPResponse(status: .ok)
        if let disposition { head.headers["Content-Disposition"] = disposition }
        #expect(head.suggestedFileName == name)
    }
}
