import Foundation
import SluiceHTTP
import Testing

@testable import SluiceURLSession

#if canImport(FoundationNetworking)
import FoundationNetworking
#endif

@Suite struct URLRequestTests {
    private static let plain = HTTPRequest(scheme: "http", authority: "host", path: "/")

    private static func changed(_ change: (inout HTTPRequest) -> Void) -> HTTPRequest {
        var request = plain
        change(&request)
        return request
    }

    @Test(
        arguments: [
            (changed { $0.scheme = "ftp" }, .unsupportedScheme), (changed { $0.authority = "" }, .invalidURL),
            (changed { $0.authority = "a b" }, .invalidURL), (changed { $0.authority = "user@host" }, .invalidURL),
            (changed { $0.path = "/a b" }, .invalidURL), (changed { $0.path = "/a#b" }, .invalidURL),
            (changed { $0.path = "/ü" }, .invalidURL), (changed { $0.method = "A B" }, .invalidMethod),
            (changed { $0.method = "" }, .invalidMethod), (changed { $0.headers = ["X": "a\r\nY: b"] }, .invalidHeader),
            (changed { $0.headers = ["X Y": "a"] }, .invalidHeader),
        ] as [(HTTPRequest, SluiceError.Code)]
    )
    func rejectsInvalidRequests(_ request: HTTPRequest, _ expected: SluiceError.Code) {
        let error = #expect(throws: SluiceError.self) { try URLRequest(request) }
        #expect(error?.code == expected)
        #expect(error?.request?.path == request.path)
    }

    @Test(arguments: ["/a%20b%2Fc%c3%A9", "/?", "/?a=b&a=%26+%20&&=", "/x?u=http://y/?z", "/(a);b=c,d/~'!$*:@"])
    func keepsTargetUnchanged(_ path: String) throws {
        let message = try URLRequest(Self.changed { $0.path = path })
        #expect(message.url?.absoluteString == "http://host\(path)")
    }

    /// `URL` accepts no brackets there.
    @Test func encodesSquareBrackets() throws {
        let message = try URLRequest(Self.changed { $0.path = "/a[1]?filter[name]=ada&x=%5B" })
        #expect(message.url?.absoluteString == "http://host/a%5B1%5D?filter%5Bname%5D=ada&x=%5B")
    }

    @Test func leavesTheFramingToTheBody() throws {
        let fields: HTTPHeaders = ["Content-Length": "1", "Transfer-Encoding": "chunked", "X-A": "1"]
        let message = try URLRequest(Self.changed { $0.headers = fields })
        #expect(message.allHTTPHeaderFields == ["X-A": "1"])
    }

    @Test func joinsRepeatedFields() throws {
        let message = try URLRequest(Self.changed { $0.headers = ["X-A": "1", "x-a": "2"] })
        #expect(message.value(forHTTPHeaderField: "X-A") == "1,2")
    }
}
