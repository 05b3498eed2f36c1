import SluiceHTTP
import Testing

@Suite struct HTTPStatusTests {
    @Test(
        arguments: [
            (100, .informational), (199, .informational), (200, .success), (299, .success), (300, .redirection),
            (399, .redirection), (400, .clientError), (499, .clientError), (500, .serverError), (599, .serverError),
            (99, .unknown), (600, .unknown), (0, .unknown), (-200, .unknown), (999, .unknown),
        ] as [(Int, HTTPStatus.Class)]
    )
    func firstDigitDeterminesTheClass(code: Int, expected: HTTPStatus.Class) {
        let status = HTTPStatus(code)
        #expect(status.class == expected)
        #expect(status.isSuccess == (200...299).contains(code))
        #expect(status.isRedirection == (300...399).contains(code))
        #expect(status.isClientError == (400...499).contains(code))
        #expect(status.isServerError == (500...599).contains(code))
        #expect(status == HTTPStatus(rawValue: code))
        #expect("\(status)" == String(code))
    }

    @Test(
        arguments: [
            (.ok, 200), (.created, 201), (.noContent, 204), (.partialContent, 206), (.movedPermanently, 301),
            (.found, 302), (.seeOther, 303), (.notModified, 304), (.temporaryRedirect, 307), (.permanentRedirect, 308),
            (.badRequest, 400), (.unauthorized, 401), (.forbidden, 403), (.notFound, 404), (.conflict, 409),
            (.unprocessableContent, 422), (.tooManyRequests, 429), (.internalServerError, 500), (.badGateway, 502),
            (.serviceUnavailable, 503), (.gatewayTimeout, 504),
        ] as [(HTTPStatus, Int)]
    )
    func namedMembersHaveTheRegisteredCode(status: HTTPStatus, code: Int) {
        #expect(status.rawValue == code)
    }
}
