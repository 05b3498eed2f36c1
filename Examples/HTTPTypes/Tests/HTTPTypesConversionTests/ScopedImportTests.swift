import HTTPTypes
import Sluice
import Testing

import struct Sluice.HTTPRequest

// The code of the article "Bridges to other code".

func isTraced(_ request: HTTPRequest) -> Bool {
    request.headers.contains("traceparent")
}

func isTraced(_ request: HTTPTypes.HTTPRequest) -> Bool {
    request.headerFields.contains { $0.name.canonicalName == "traceparent" }
}

@Suite struct ScopedImportTests {
    @Test func aScopedImportDecidesAboutTheName() throws {
        let request = HTTPRequest(scheme: "https", authority: "a.example", path: "/", headers: ["Traceparent": "00"])
        #expect(isTraced(request))
        let name = try #require(HTTPField.Name("traceparent"))
        #expect(
            isTraced(
                HTTPTypes.HTTPRequest(method: .get, scheme: nil, authority: nil, path: nil, headerFields: [name: "00"])
            )
        )
    }

    @Test func aliasesOfAnotherFileDecideAboutTheName() {
        let request = ClientRequest(scheme: "https", authority: "a.example", path: "/")
        #expect(!isTraced(request))
        #expect(ClientResponse(status: 204).status.isSuccess)
    }
}
