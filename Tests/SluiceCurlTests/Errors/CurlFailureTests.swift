#if os(Linux)
import CCurl
import Glibc
import SluiceHTTP
import Testing

@testable import SluiceCurl

@Suite struct CurlFailureTests {
    private static let meanings: [UInt32: SluiceError.Code] = [
        CURLE_UNSUPPORTED_PROTOCOL.rawValue: .invalidResponse, CURLE_URL_MALFORMAT.rawValue: .invalidURL,
        CURLE_COULDNT_RESOLVE_PROXY.rawValue: .proxyFailed, CURLE_COULDNT_RESOLVE_HOST.rawValue: .cannotResolveHost,
        CURLE_COULDNT_CONNECT.rawValue: .cannotConnect, CURLE_WEIRD_SERVER_REPLY.rawValue: .invalidResponse,
        CURLE_HTTP2.rawValue: .invalidResponse, CURLE_PARTIAL_FILE.rawValue: .truncatedBody,
        CURLE_HTTP_RETURNED_ERROR.rawValue: .invalidResponse, CURLE_OUT_OF_MEMORY.rawValue: .headersTooLarge,
        CURLE_OPERATION_TIMEDOUT.rawValue: .connectTimedOut,
        CURLE_INTERFACE_FAILED.rawValue: .cannotConnect, CURLE_GOT_NOTHING.rawValue: .connectionLost,
        CURLE_SEND_ERROR.rawValue: .connectionLost, CURLE_RECV_ERROR.rawValue: .connectionLost,

        CURLE_BAD_CONTENT_ENCODING.rawValue: .invalidResponse,
        CURLE_FILESIZE_EXCEEDED.rawValue: .bodyTooLarge,
        CURLE_SEND_FAIL_REWIND.rawValue: .bodyNotReplayable, CURLE_LOGIN_DENIED.rawValue: .invalidURL,

        CURLE_HTTP2_STREAM.rawValue: .connectionLost,
        CURLE_PROXY.rawValue: .proxyFailed,
        // CURLE_TOO_LARGE of libcurl 8.6, which older headers do not name.
        100: .headersTooLarge,
    ]

    private static func error(
        _ code: CURLcode,
        _ message: String = "",
        systemError: Int32 = 0,
        hasHead: Bool = false
    ) -> SluiceError {
        CurlFailure(code: code, message: message, systemError: systemError).error(host: "a.test:81", hasHead: hasHead)
    }

    @Test(arguments: 1...120 as ClosedRange<UInt32>)
    func everyCodeHasItsMeaningAndASentence(code: UInt32) {
        let error = Self.error(CURLcode(code))
        #expect(error.code == Self.meanings[code, default: .internalFailure])
        #expect(error.step == .transport)
        #expect(error.reason.hasSuffix("."))
        #expect(!error.reason.hasSuffix(".."))
        #expect((error.underlyingError as? CurlFailure)?.code == code)
    }

    /// Behind the head it can no longer be the head that was too large.
    @Test(arguments: [CURLE_OUT_OF_MEMORY.rawValue, 100])
    func outOfMemoryBehindTheHeadIsTheEnginesFault(code: UInt32) {
        #expect(Self.error(CURLcode(code), hasHead: true).code == .internalFailure)
    }

    /// What the engine itself does not want it says otherwise.
    @Test func whatCannotBeDecodedIsTheServersFault() {
        #expect(Self.error(CURLE_WRITE_ERROR, hasHead: true).code == .invalidResponse)
    }

    @Test func aMalformedTrailerIsTheServersFault() {
        #expect(Self.error(CURLE_BAD_FUNCTION_ARGUMENT, hasHead: true).code == .invalidResponse)
        let error = Self.error(CURLE_BAD_FUNCTION_ARGUMENT, "Failed reading the chunked-encoded stream")
        #expect(error.code == .invalidResponse)
    }

    @Test(
        arguments: [
            ("Illegal or missing hexadecimal sequence in chunked-encoding", .invalidResponse),
            ("Recv failure: Connection reset by peer", .connectionLost), ("", .connectionLost),
        ] as [(String, SluiceError.Code)]
    )
    func aDamagedChunkIsNoLostConnection(message: String, code: SluiceError.Code) {
        #expect(Self.error(CURLE_RECV_ERROR, message, systemError: ECONNRESET).code == code)
    }

    @Test(arguments: [
        (CURLE_COULDNT_CONNECT, "", ECONNREFUSED, "No connection to a.test:81: connection refused."),
        (CURLE_COULDNT_CONNECT, "", 0, "No connection to a.test:81: nothing answers there."),
        (
            CURLE_RECV_ERROR, "Recv failure: Connection reset by peer", ECONNRESET,
            "The connection to a.test:81 was lost: connection reset by peer."
        ),
        (CURLE_RECV_ERROR, "", 0, "The connection to a.test:81 was lost: the server ended it."),
        (CURLE_GOT_NOTHING, "", 0, "The server at a.test:81 closed the connection without an answer."),
        (CURLE_OPERATION_TIMEDOUT, "", 0, "No connection to a.test:81 came about in the time allowed."),
        (CURLE_FAILED_INIT, "No handle", 0, "The transfer failed: No handle (libcurl 2)."),
    ])
    func sentencesSayWhatFailedWhereAndWhy(code: CURLcode, message: String, systemError: Int32, sentence: String) {
        #expect(Self.error(code, message, systemError: systemError).reason == sentence)
    }

    /// A handle keeps the number of a transfer before; it counts where connecting failed or libcurl's words name it.
    @Test(arguments: [
        (CURLE_COULDNT_CONNECT, "", ECONNREFUSED), (CURLE_RECV_ERROR, "", 0), (CURLE_GOT_NOTHING, "Empty reply", 0),
        (CURLE_SEND_ERROR, "Send failure: Connection refused", ECONNREFUSED),
    ])
    func aSystemErrorOfATransferBeforeIsForgotten(code: CURLcode, message: String, expected: Int32) {
        let failure = CurlFailure(code: code, message: message, systemError: ECONNREFUSED)
        #expect(failure.systemError == expected)
    }

    @Test func theDescriptionIsInLibcurlsWords() {
        let spoken = CurlFailure(code: CURLE_GOT_NOTHING, message: "Empty reply from server", systemError: 0)
        #expect("\(spoken)" == "Empty reply from server (libcurl 52)")
        let silent = CurlFailure(code: CURLE_GOT_NOTHING, message: "", systemError: 0)
        #expect("\(silent)" == "\(String(cString: curl_easy_strerror(CURLE_GOT_NOTHING))) (libcurl 52)")
    }
}
#endif
