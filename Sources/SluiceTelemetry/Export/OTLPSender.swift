import Sluice
import SluiceFoundation
import SluiceHTTP

/// Sends messages to a collector by a client of its own, which has no observer and no trace: exports are not exported themselves.
struct OTLPSender: Sendable {
    private let client: APIClient
    private let url: String
    private let format: OTLPFormat

    init(_ collector: OTLPCollector, _ transport: (any Transport)?, _ clock: any SluiceClock) {
        url = collector.url
        format = collector.format
        client = APIClient {
            $0.headers.append(contentsOf: collector.headers)
            $0.secretHeaders = collector.headers.map(\.name)
            $0.timeouts.total = collector.timeout
            // A collector answers with a few bytes. More is nonsense.
            $0.limits.body = 64 << 10
            $0.redirects = .none
            $0.connection.tls = collector.tls
            $0.clock = clock
            if collector.isCompressed { $0.requestInterceptors = [CompressBody(minimumSize: 0)] }
            if let transport { $0.transport = transport }
        }
    }

    /// Sends an encoded message. The deadline of a caller does not apply.
    func send(_ message: [UInt8], now: Date) async -> ExportOutcome {
        let request = client.data.post(url).data(Data(message), contentType: format.contentType).validate(.none)
        let response = await Deadline.$current.withValue(nil) { await request.sender().response }
        do throws(SluiceError) {
            return ExportOutcome(.success(try response.received()), format, now: now)
        } catch {
            return ExportOutcome(.failure(error), format, now: now)
        }
    }
}
