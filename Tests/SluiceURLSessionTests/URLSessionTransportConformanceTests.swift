import SluiceTesting
import SluiceURLSession
import Testing

/// The conformance cases of transports, except those that `URLSession` cannot keep.
///
/// Serialized, because many of the cases measure time and some transfer many bytes.
@Suite(.serialized) struct URLSessionTransportConformanceTests {
    @Test(arguments: try TransportConformance.cases(excluding: exclusionsOnAllPlatforms + platformExclusions))
    func passesConformanceCase(_ conformanceCase: TransportConformance.Case) async throws {
        try await TransportConformance.run(conformanceCase, within: .seconds(120)) { URLSessionTransport() }
    }

    private static let exclusionsOnAllPlatforms: [TransportConformance.Exclusion] = [
        .init(
            "Request headers arrive in order, and repeated ones are not combined",
            because: "a URLRequest keeps its fields in a dictionary, which has no order and joins repeated ones"
        ),
        .init(
            "Response headers are returned in order, and repeated ones are not combined",
            because: "an HTTPURLResponse keeps its fields in a dictionary, which has no order and joins repeated ones"
        ),
        .init(
            "A head under the limit arrives",
            because: "the case counts repeated fields, which an HTTPURLResponse has joined"
        ),
        .init(
            "A status line without a reason phrase and one of HTTP/1.0 are accepted",
            because: "both are accepted, but an HTTPURLResponse does not contain the version"
        ),
        .init(
            "A body can be sent with any method",
            because: "URLSession fails a GET that has a body with dataLengthExceedsMaximum"
        ),
    ]

    #if canImport(FoundationNetworking)
    private static let readsWithoutDemand =
        "Foundation on Linux reads a response as fast as it arrives; a suspended task loses its connection, and "
        + "a resumed task sends its request again, and appends the new body to the bytes received before"
    private static let queueIsBusy =
        "Foundation on Linux starts and cancels tasks on one queue for all sessions, which a server that sends without "
        + "end and faster than it is read blocks; URLSessionTransportTests covers servers that pause"

    private static let cookies =
        "Foundation on Linux accepts cookies for any domain from any host, and keeps and sends expired cookies"

    private static let challenges =
        "Foundation on Linux calls its delegate after the whole response has arrived, and the task then ends only if "
        + "cancelled; challenges cannot be answered, and a request that has only such credentials fails with unsupported"

    private static let platformExclusions: [TransportConformance.Exclusion] = [
        .init("Credentials answer a challenge, which the caller does not see", because: challenges),
        .init("Refused credentials return the 401 response", because: challenges),
        .init("A challenge that the credentials do not support is returned", because: challenges),
        .init("A replayable body is sent again after a challenge", because: challenges),
        .init(
            "A body that can be read only once fails with bodyNotReplayable after a challenge",
            because: challenges
        ),
        .init("A jar's cookies are sent to the hosts and paths they are for", because: cookies),
        .init("A jar's cookies are not sent with another jar or without one", because: cookies),
        .init("An expired cookie is removed from the jar", because: cookies),
        .init("A host cannot set cookies for another", because: cookies),
        .init(
            "A body that is not read pauses the server, and a dropped body closes the connection",
            because: readsWithoutDemand
        ),
        .init("A paused body continues when it is read", because: readsWithoutDemand),
        .init("A body that is not read does not block other transfers", because: readsWithoutDemand),
        .init("Time in which the caller does not read is not idle time", because: readsWithoutDemand),
        .init("A response that is dropped unread closes its connection", because: queueIsBusy),
        .init("A body over the limit fails with bodyTooLarge, announced or not", because: queueIsBusy),
        .init(
            "A task cancelled while it reads the body fails with cancelled and closes the connection",
            because: queueIsBusy
        ),
        .init(
            "White space around a response header's value is removed",
            because: "Foundation on Linux fails a response in which no space follows a header's colon"
        ),
        .init(
            "A server that rejects Expect with 417 gets the body without it",
            because: "Foundation on Linux sends an Expect field unchanged, and returns the 417 response"
        ),
        .init(
            "Trailers are not added to the headers",
            because: "Foundation on Linux stops the process: “Transfer completed, but there's no response.”"
        ),
        .init(
            "A connection closed within the head fails with connectionLost",
            because: "Foundation on Linux stops the process: “Transfer completed, but there's no response.”"
        ),
        .init(
            "Metrics report whether a connection was reused, and its remote address",
            because: "Foundation on Linux collects no URLSessionTaskMetrics"
        ),
    ]
    #else
    private static let platformExclusions: [TransportConformance.Exclusion] = []
    #endif
}
