import Sluice
import SluiceTesting
import XCTest

final class ValidationTests: XCTestCase {
    private func code(
        of validation: Validation?,
        for response: LoopbackResponse
    ) async throws -> SluiceError.Code? {
        let server = try LoopbackServer()
        server.on("/", response)
        var request = APIClient(baseURL: server.url).data.request("")
        if let validation { request = request.validate(validation) }
        return await request.sender().result.failure?.code
    }

    func testAcceptsOnly2xxByDefault() async throws {
        for (status, expected): (HTTPStatus, SluiceError.Code?) in [
            (200, nil), (204, nil), (299, nil), (300, .unacceptableStatus), (304, .unacceptableStatus),
            (400, .unacceptableStatus), (404, .unacceptableStatus), (500, .unacceptableStatus),
        ] {
            let code = try await code(of: nil, for: .status(status))
            XCTAssertEqual(code, expected, "\(status)")
        }
    }

    func testAcceptsOtherStatusesIfAllowed() async throws {
        let server = try LoopbackServer()
        server.on("/missing", .text("nothing here", status: .notFound))
        let request = APIClient(baseURL: server.url).data.request("missing")
        let data = try await request.validate(statuses: 200..<300, 404..<405).sender().value
        XCTAssertEqual(data, Data("nothing here".utf8))
        let all = try await request.validate(.none).sender().value
        XCTAssertEqual(all, data)
    }

    func testRangesOfStatusesAreOneOrSeveral() async throws {
        let rules: [(Validation, Set<Int>)] = [
            (Validation(statuses: 200..<201), [200]),
            (Validation(statuses: 200...201), [200, 201]),
            (Validation(statuses: 200..<201, 404..<405), [200, 404]),
            (Validation(statuses: 200...200, 404...404, 999...Int.max), [200, 404, 999]),
            (Validation(statuses: 200..<300, contentTypes: ["image/png"]), []),
        ]
        for (rule, accepted) in rules {
            for status in [200, 201, 404, 999] {
                let client = APIClient(baseURL: "http://shop.test") {
                    $0.validation = rule
                    $0.stub = .text("x", status: HTTPStatus(status))
                }
                let failure = await client.string.get("x").sender().result.failure
                XCTAssertEqual(failure == nil, accepted.contains(status), "\(rule.statuses), \(status)")
            }
        }
    }

    func testRangesOfStatusesMayEndWithTheLargestInteger() async throws {
        let client = APIClient(baseURL: "http://shop.test") { $0.stub = .text("odd", status: 999) }
        let request = client.string.get("x")
        let odd = try await request.validate(statuses: 200...Int.max).sender().value
        XCTAssertEqual(odd, "odd")
        let refused = await request.validate(statuses: Int.min...200, Int.max...Int.max).sender().result.failure
        XCTAssertEqual(refused?.code, .unacceptableStatus)
    }

    func testClientRulesAreNoRulesOfTheRequest() async throws {
        let client = APIClient(baseURL: "http://shop.test") {
            $0.validation = Validation(statuses: [404..<405])
            $0.stub = .text("x", status: .notFound)
        }
        let text = try await client.string.get("x").validate(.none).validate(.client).sender().value
        XCTAssertEqual(text, "x")
        var own = Validation.client
        own.statuses = [200..<201]
        let refused = await client.string.get("x").validate(own).sender().result.failure
        XCTAssertEqual(refused?.code, .unacceptableStatus)
    }

    func testComparesContentTypesWithoutParametersAndCase() async throws {
        for (type, accepted, expected): (String, [String], SluiceError.Code?) in [
            ("application/json", ["application/json"], nil),
            ("Application/JSON; charset=utf-8", ["application/json"], nil),
            ("application/json", ["Application/JSON; charset=utf-8"], nil),
            ("text/html", ["application/json"], .unacceptableContentType),
            ("text/html", ["application/json", "text/*"], nil),
            ("image/png", ["*/*"], nil),
            ("textual/html", ["text/*"], .unacceptableContentType),
        ] {
            let response = LoopbackResponse.data(Data("x".utf8), headers: ["Content-Type": type])
            let code = try await code(of: Validation(contentTypes: accepted), for: response)
            XCTAssertEqual(code, expected, "\(type) among \(accepted)")
        }
    }

    func testCustomRuleReceivesHeadAndBody() async throws {
        struct Refused: Error {}
        let rule: Validation.Rule = { head, body in
            if head.headers["X-Ok"] != "yes" || body != Data("fine".utf8) { throw Refused() }
        }
        let accepted = try await code(of: Validation(rules: [rule]), for: .text("fine", headers: ["X-Ok": "yes"]))
        XCTAssertNil(accepted)
        let refused = try await code(of: Validation(rules: [rule]), for: .text("bad", headers: ["X-Ok": "yes"]))
        XCTAssertEqual(refused, .validationFailed)
    }
}
