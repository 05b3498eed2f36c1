import Foundation
import Testing

@testable import Sluice

/// The method and the body of redirected requests: step 12 of “HTTP-redirect fetch” in the Fetch Standard, and RFC 9110 §15.4.2
/// to §15.4.9.
@Suite struct RedirectMethodTests {
    private static let methods: [HTTPMethod] = [
        .get, .head, .post, .put, .patch, .delete, .options, "PURGE", "QUERY", "post",
    ]

    private static func request(_ method: HTTPMethod, body: RequestBody = .data(Data("body".utf8))) -> HTTPRequest {
        HTTPRequest(
            method: method,
            scheme: "https",
            authority: "a.b",
            path: "/x",
            headers: [
                "Content-Type": "text/plain", "Content-Language": "en", "Content-Location": "/y",
                "Content-Encoding": "gzip", "Content-Length": "4", "Digest": "d", "Content-Digest": "d",
                "Content-MD5": "m", "Content-Range": "bytes 0-3/4", "Last-Modified": "d", "Expect": "100-continue",
                "Transfer-Encoding": "chunked", "Accept": "a/b", "X-Kept": "1",
            ],
            body: body
        )
    }

    private static func next(_ status: Int, _ request: HTTPRequest, to location: String = "/z") throws -> HTTPRequest? {
        let head = HTTPResponse(status: HTTPStatus(rawValue: status), headers: [.location: location])
        return try RedirectPolicy().next(after: head, to: request, visited: [])
    }

    @Test(arguments: [301, 302])
    func changesOnlyPOSTToGETFor301And302(_ status: Int) throws {
        for method in Self.methods {
            let next = try #require(try Self.next(status, Self.request(method)))
            #expect(next.method == (method == .post ? .get : method), "\(method)")
            #expect(next.body.isNone == (method == .post), "\(method)")
        }
    }

    @Test func changesAllButGETAndHEADToGETFor303() throws {
        for method in Self.methods {
            let next = try #require(try Self.next(303, Self.request(method)))
            let isKept = method == .get || method == .head
            #expect(next.method == (isKept ? method : .get), "\(method)")
            #expect(next.body.isNone == !isKept, "\(method)")
            #expect(next.headers.contains(.contentType) == isKept, "\(method)")
        }
    }

    @Test(arguments: [307, 308])
    func keepsMethodAndBodyFor307And308(_ status: Int) throws {
        for method in Self.methods {
            let next = try #require(try Self.next(status, Self.request(method)))
            #expect(next.method == method)
            #expect(!next.body.isNone)
            #expect(next.headers == Self.request(method).headers)
        }
    }

    @Test(arguments: [301, 302, 303])
    func dropsContentHeadersWithBody(_ status: Int) throws {
        let next = try #require(try Self.next(status, Self.request(.post)))
        #expect(next.headers.map(\.name) == ["Accept", "X-Kept"])
    }

    @Test(arguments: [(301, "POST", true), (303, "PUT", true), (302, "PUT", false), (307, "POST", false)])
    func dropsOneShotBodyButDoesNotResendIt(
        _ status: Int,
        _ method: HTTPMethod,
        _ isLeft: Bool
    ) throws {
        let once = RequestBody.stream(AsyncStream<Data> { $0.finish() })
        let result = Result { try Self.next(status, Self.request(method, body: once)) }
        if isLeft {
            #expect(try result.get()?.body.isNone == true)
        } else {
            let error = #expect(throws: SluiceError.self) { try result.get() }
            #expect(error?.code == .bodyNotReplayable)
        }
    }

    @Test func sendsBodyAcrossOriginsUnlessDisabled() throws {
        let head = HTTPResponse(status: 307, headers: [.location: "https://c.d/z"])
        let near = HTTPResponse(status: 307, headers: [.location: "/z"])
        let found = HTTPResponse(status: 302, headers: [.location: "https://c.d/z"])
        let post = Self.request(.post)
        #expect(try RedirectPolicy().next(after: head, to: post, visited: [])?.body.length == 4)
        let restricted = RedirectPolicy(sendsBodyAcrossOrigins: false)
        let error = #expect(throws: SluiceError.self) { try restricted.next(after: head, to: post, visited: []) }
        #expect(error?.code == .redirectRefused)
        #expect(try restricted.next(after: near, to: post, visited: [])?.body.length == 4)
        #expect(try restricted.next(after: found, to: post, visited: [])?.method == .get)
        #expect(try restricted.next(after: head, to: Self.request(.put, body: .none), visited: [])?.method == .put)
    }
}
