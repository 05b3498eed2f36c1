#if os(Linux)
import SluiceEngine
import SluiceHTTP

/// What the engine keeps for one transport: its queue, and the handles that have its options.
///
/// Lives on the engine's thread only.
struct EngineTrack {
    private static let maximumIdleHandles = 256

    var queue: TransferQueue<HTTPOrigin, ObjectIdentifier, Transfer>
    var idle: [Exchange] = []

    init(_ configuration: CurlTransport.Configuration) {
        queue = TransferQueue(
            limit: configuration.maximumTransfers,
            limitPerHost: configuration.maximumTransfersPerHost,
            maximumWaiting: configuration.maximumWaitingTransfers
        )
    }

    /// Keeps an exchange for the next transfer, unless enough of them are kept.
    mutating func keep(_ exchange: Exchange) {
        if idle.count < EngineTrack.maximumIdleHandles { idle.append(exchange) }
    }
}
#endif
