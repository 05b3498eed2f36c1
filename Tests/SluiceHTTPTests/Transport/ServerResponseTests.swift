import SluiceFoundation
import SluiceHTTP
import Testing

/// The head of a stored response, to which two fields are added when it is read.
@Suite struct ServerResponseTests {
    private static let complete = ["etag: \"1\"", "age: 7", "cache-status: Sluice; hit"]

    private static let added = CacheAddedFields(age: 7, status: CacheStatus(cache: "Sluice"))

    private static func stored(_ fields: CacheAddedFields? = added) -> ServerResponse {
        ServerResponse(
            request: HTTPRequest(scheme: "http", authority: "example.com", path: "/"),
            head: HTTPResponse(status: 203, headers: [.eTag: "\"1\""]),
            addedFields: fields,
            body: Data("body".utf8),
            source: .server,
            storedModel: nil
        )
    }

    private static func fields(of response: ServerResponse) -> [String] {
        response.head.headers.map { "\($0.name.rawValue.lowercased()): \($0.value)" }
    }

    @Test func headHasTheAddedFieldsEachTimeItIsRead() {
        let response = Self.stored()
        #expect(Self.fields(of: response) == Self.complete)
        #expect(Self.fields(of: response) == Self.complete)
        #expect(response.status == 203)
        #expect(response.bodyCount == 4)
    }

    @Test func completedHeadHasTheAddedFieldsOnce() {
        var response = Self.stored()
        response.completeHead()
        response.completeHead()
        #expect(Self.fields(of: response) == Self.complete)
    }

    @Test func changedHeadKeepsTheAddedFields() {
        var response = Self.stored()
        let copy = response
        response.head.status = .ok
        response.head.headers[.age] = "8"
        #expect(Self.fields(of: response) == ["etag: \"1\"", "age: 8", "cache-status: Sluice; hit"])
        #expect(response.status == .ok)
        #expect(Self.fields(of: copy) == Self.complete)
        #expect(copy.status == 203)
    }

    @Test func replacedHeadHasNoAddedFields() {
        var response = Self.stored()
        response.head = HTTPResponse(status: .ok)
        #expect(Self.fields(of: response).isEmpty)
    }

    @Test func headWithoutAddedFieldsIsTheStoredOne() {
        var response = Self.stored(nil)
        #expect(Self.fields(of: response) == ["etag: \"1\""])
        response.completeHead()
        #expect(Self.fields(of: response) == ["etag: \"1\""])
    }
}
