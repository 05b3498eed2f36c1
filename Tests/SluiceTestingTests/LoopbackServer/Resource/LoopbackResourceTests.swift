import SluiceHTTP
import SluiceTesting
import XCTest

final class LoopbackResourceTests: XCTestCase {
    private let digits = LoopbackResource(
        Data("0123456789".utf8),
        contentType: "text/plain",
        eTag: "\"1\"",
        lastModified: Date(timeIntervalSince1970: 784_111_777)
    )

    private func answer(
        _ resource: LoopbackResource,
        _ headers: String = "",
        method: String = "GET"
    ) throws -> String {
        let server = try LoopbackServer()
        server.on("/", .resource(resource))
        return try RawClient(port: server.port).get("/", method: method, headers: headers)
    }

    func testWholeResourceHasValidators() throws {
        let answer = try answer(digits)
        XCTAssertTrue(answer.hasPrefix("HTTP/1.1 200 OK\r\n"))
        XCTAssertTrue(answer.hasSuffix("Content-Length: 10\r\n\r\n0123456789"))
        XCTAssertTrue(answer.contains("Date: "))
        XCTAssertTrue(answer.contains("Accept-Ranges: bytes\r\nETag: \"1\"\r\n"))
        XCTAssertTrue(answer.contains("Last-Modified: Sun, 06 Nov 1994 08:49:37 GMT\r\n"))
    }

    func testSendsRequestedRange() throws {
        let answer = try answer(digits, "Range: bytes=3-5\r\nIf-Range: \"1\"\r\n")
        XCTAssertTrue(answer.hasPrefix("HTTP/1.1 206 "))
        XCTAssertTrue(answer.contains("Content-Range: bytes 3-5/10\r\n"))
        XCTAssertTrue(answer.hasSuffix("Content-Length: 3\r\n\r\n345"))
    }

    func testChangedValidatorSendsWholeResource() throws {
        XCTAssertTrue(try answer(digits, "Range: bytes=3-5\r\nIf-Range: \"0\"\r\n").hasSuffix("\r\n\r\n0123456789"))
    }

    func testRangeBeyondEndIs416WithLength() throws {
        let answer = try answer(digits, "Range: bytes=10-\r\n")
        XCTAssertTrue(answer.hasPrefix("HTTP/1.1 416 "))
        XCTAssertTrue(answer.contains("Content-Range: bytes */10\r\n"))
    }

    func testHEADMatchesGETAndIgnoresRanges() throws {
        let server = try LoopbackServer()
        server.on("/", .resource(digits))
        let client = try RawClient(port: server.port)
        let head = client.get("/", method: "HEAD", headers: "Range: bytes=3-5\r\n")
        XCTAssertTrue(head.hasPrefix("HTTP/1.1 200 OK\r\n"))
        XCTAssertTrue(head.hasSuffix("Content-Length: 10\r\n\r\n"))
        XCTAssertTrue(client.get("/").hasSuffix("\r\n\r\n0123456789"), "the response to HEAD had no body")
    }

    func testRejectsOtherMethodsAndChecksPreconditions() throws {
        XCTAssertTrue(try answer(digits, method: "DELETE").hasPrefix("HTTP/1.1 405 "))
        let server = try LoopbackServer()
        server.on("/", .resource(digits))
        let client = try RawClient(port: server.port)
        client.send("GET / HTTP/1.1\r\nIf-None-Match: \"1\"\r\n\r\n")
        let head = client.receiveHead()
        XCTAssertTrue(head.hasPrefix("HTTP/1.1 304 "))
        XCTAssertTrue(head.contains("ETag: \"1\"\r\n"))
        XCTAssertTrue(client.get("/", headers: "If-Match: \"2\"\r\n").hasPrefix("HTTP/1.1 412 "))
    }

    func testRangesCanBeDisabled() throws {
        var resource = digits
        resource.acceptsRanges = false
        let answer = try answer(resource, "Range: bytes=3-5\r\n")
        XCTAssertTrue(answer.contains("Accept-Ranges: none\r\n"))
        XCTAssertTrue(answer.hasSuffix("\r\n\r\n0123456789"))
    }

    func testSendsIncorrectRanges() throws {
        let range = "Range: bytes=3-5\r\n"
        let faults: [(LoopbackResource.Fault, headers: String, says: String, body: String)] = [
            (.shiftedRange(by: -1), range, "Content-Range: bytes 2-4/10\r\n", "345"),
            (.total(11), range, "Content-Range: bytes 3-5/11\r\n", "345"),
            (.total(nil), range, "Content-Range: bytes 3-5/*\r\n", "345"),
            (.noContentRange, range, "HTTP/1.1 206 ", "345"),
            (.unrequestedPart(2..<4), "", "Content-Range: bytes 2-3/10\r\n", "23"),
            (.unrequestedPart(8..<40), "", "Content-Range: bytes 8-9/10\r\n", "89"),
            (.shortPart(by: 2), range, "Content-Range: bytes 3-5/10\r\n", "3"),
            (.shortPart(by: 100), range, "Content-Length: 0\r\n", ""),
            (.ignoringIfRange, range + "If-Range: \"0\"\r\n", "Content-Range: bytes 3-5/10\r\n", "345"),
        ]
        for (fault, headers, says, body) in faults {
            let answer = try answer(digits.withFaults(fault), headers)
            XCTAssertTrue(answer.contains(says), "\(fault): \(answer)")
            XCTAssertTrue(answer.hasSuffix("\r\n\r\n" + body), "\(fault): \(answer)")
            XCTAssertEqual(answer.contains("Content-Range"), fault != .noContentRange, "\(fault)")
        }
    }
}
