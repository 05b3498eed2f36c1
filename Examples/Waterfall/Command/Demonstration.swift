import Sluice
import SluiceTesting

/// A session with a server on 127.0.0.1 that redirects, is slow, and fails now and then.
struct Demonstration {
    func recording() async throws -> HAR {
        let server = try LoopbackServer()
        server.on("/", .text("Hello"))
        let recorder = HARRecorder()
        return recorder.har()
    }
}
