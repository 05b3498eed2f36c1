import Foundation
import Sluice
import SluiceHTTP
import Testing

@Suite struct CURLCommandTests {
    private func request(
        _ method: HTTPMethod = .get,
        _ path: String = "/",
        _ headers: HTTPHeaders = [:],
        _ body: RequestBody = .none
    )
        -> HTTPRequest
    {
        var headers = headers
        headers["User-Agent"] = "S"
        return HTTPRequest(method: method, scheme: "http", authority: "a.b", path: path, headers: headers, body: body)
    }

    private static let start = "curl 'http://a.b/' --compressed"

    @Test func writesMethodOnlyWhereNeeded() {
        let end = " -H 'User-Agent: S'"
        #expect(request().curlCommand() == Self.start + end)
        #expect(request(.head).curlCommand() == Self.start + end + " --head")
        #expect(request(.delete).curlCommand() == Self.start + end + " -X DELETE")
        #expect(request("M-SEARCH").curlCommand() == Self.start + end + " -X 'M-SEARCH'")
        #expect(request(.post).curlCommand() == Self.start + end + " -H 'Content-Type:' --data-raw ''")
        #expect(request(.put).curlCommand() == Self.start + end + " -X PUT -H 'Content-Type:' --data-raw ''")
    }

    @Test func rangeAsksForNoContentCoding() {
        let end = " -H 'Range: bytes=5-' -H 'User-Agent: S'"
        #expect(
            request(.get, "/", ["Range": "bytes=5-"]).curlCommand()
                == "curl 'http://a.b/' -H 'Accept-Encoding: identity'" + end
        )
        let own: HTTPHeaders = ["Accept-Encoding": "gzip", "Range": "bytes=5-"]
        #expect(request(.get, "/", own).curlCommand() == Self.start + " -H 'Accept-Encoding: gzip'" + end)
    }

    @Test func quotesHeadersAndKeepsEmptyOnes() {
        let headers: HTTPHeaders = [
            "X-Empty": "", "X-Quote": "it's \"$HOME\"", "Content-Length": "9", "@file": "x", "X-Bad": "a\nb",
            "X-Tab": "a\tb",
        ]
        let expected =
            Self.start
            + #" -H 'X-Empty;' -H 'X-Quote: it'\''s "$HOME"' -H "$(printf 'X-Tab: a\011b')" -H 'User-Agent: S'"#
        #expect(request(.get, "/", headers).curlCommand() == expected)
        var bare = request()
        bare.headers = [:]
        #expect(bare.curlCommand() == Self.start + " -H 'User-Agent:'")
    }

    @Test func preventsExpansionOfURL() {
        #expect(
            request(.get, "/a/../b?q[]={1,2}&c='x'").curlCommand().hasPrefix(
                #"curl 'http://a.b/a/../b?q[]=%7B1,2%7D&c='\''x'\''' --compressed --globoff --path-as-is "#
            )
        )
    }

    @Test func writesBodiesByContentAndSource() {
        let text = request(.post, "/", ["Content-Type": "text/plain"], .data(Data("@it's".utf8)))
        #expect(text.curlCommand().hasSuffix(#" --data-raw '@it'\''s'"#))
        let lines = request(.post, "/", [:], .data(Data("a\n%\0".utf8)))
        #expect(
            lines.curlCommand()
                == #"printf 'a\012%%\000' | \#(Self.start) -H 'User-Agent: S' -H 'Content-Type:' --data-binary @-"#
        )
        let file = request(.put, "/", [:], .file(URL(filePath: "/tmp/it's")))
        let type = "'Content-Type: application/octet-stream'"
        #expect(file.curlCommand().hasSuffix(#" -X PUT -H \#(type) -H 'Expect:' --data-binary '@/tmp/it'\''s'"#))
        let broken = request(.put, "/", [:], .file(URL(filePath: "/tmp/a\nb\n")))
        #expect(
            broken.curlCommand().hasSuffix(
                " -X PUT # without its body, which is left out: a file whose name ends with a line break"
            )
        )
        let stream = request(.post, "/", [:], .stream(AsyncStream<Data> { $0.finish() }))
        #expect(stream.curlCommand().hasSuffix(" --data-binary @- # the body is a stream: give it on standard input"))
        let search = request(.get, "/", ["Content-Type": "text/plain"], .data(Data("q".utf8)))
        #expect(search.curlCommand().hasSuffix(" -X GET --data-raw q"))
    }

    @Test func redactsSecretsUnlessDisabled() {
        let body = RequestBody.data(Data(#"{"password":"s3"}"#.utf8))
        var secret = request(
            .post,
            "/?token=s3",
            ["Authorization": "Bearer s3", "X-Tenant": "s3", "Content-Type": "application/json"],
            body
        )
        let redacted = secret.curlCommand(secretHeaders: ["x-tenant"])
        #expect(!redacted.contains("s3") && redacted.hasSuffix(#" --data-raw '{"password":"REDACTED"}'"#))
        let whole = secret.curlCommand(redaction: .none, secretHeaders: ["x-tenant"])
        #expect(whole.components(separatedBy: "s3").count == 5)
        secret.body = .data(Data(#"{"password":"s3"#.utf8))
        #expect(
            secret.curlCommand().hasSuffix(
                " -X POST # without its body of 15 B, which is left out: it may contain a secret"
            )
        )
        secret.headers["Content-Encoding"] = "gzip"
        #expect(secret.curlCommand().hasSuffix(" -X POST # without its body of 15 B, which is left out: compressed"))
    }

    @Test func notesLeftOutPartsOfForm() {
        let head = "--b1\r\nContent-Disposition: form-data; name=picture\r\nContent-Type: image/png\r\n\r\n"
        let form = Data(head.utf8) + [0, 255, 1] + Data("\r\n--b1--\r\n".utf8)
        let upload = request(.post, "/", ["Content-Type": "multipart/form-data; boundary=b1"], .data(form))
        let command = upload.curlCommand()
        #expect(command.contains("(3 bytes)"))
        #expect(command.hasSuffix(" --data-binary @- # with notes in parentheses in place of parts of the form"))
        let whole = upload.curlCommand(redaction: .none)
        #expect(whole.contains(#"\000\377\001"#) && whole.hasSuffix(" --data-binary @-"))
    }

    @Test func notesBodyThatObserverHasNotReceived() {
        let body = RequestBody(source: .none, contentType: "text/plain", length: 4, isReplayable: true)
        #expect(
            request(.post, "/", [:], body).curlCommand()
                == Self.start + " -H 'User-Agent: S' -X POST"
                + " # without its body of 4 B, which is left out: the observer was too slow"
        )
    }

    @Test func omitsBodyOverLimit() {
        var redaction = Redaction.none
        redaction.bodyLimit = 3
        let long = request(.post, "/", [:], .data(Data("1234".utf8)))
        #expect(
            long.curlCommand(redaction: redaction).hasSuffix(
                " -X POST # without its body of 4 B, which is left out: too long"
            )
        )
    }
}
