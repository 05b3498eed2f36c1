import Hummingbird
import NIOCore
import SluiceTelemetry

/// A page of metrics is a response, so that a route is one line.
extension PrometheusMetrics.Page: @retroactive ResponseGenerator {
    /// Returns the page as a response.
    public func response(from request: Request, context: some RequestContext) -> Response {
        Response(
            status: .ok,
            headers: [.contentType: contentType],
            body: ResponseBody(byteBuffer: ByteBuffer(bytes: body))
        )
    }
}
