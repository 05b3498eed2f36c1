#if os(Linux)
#if canImport(FoundationEssentials)
import FoundationEssentials
#else
import Foundation
#endif
import SluiceHTTP

/// A request body that is ready to be sent.
package enum UploadSource: Sendable {
    case none
    case data(Data)
    case stream(HTTPBody.Stream, length: Int64?, isReplayable: Bool = false)

    /// The length of the body in bytes, or nil if it is unknown.
    package var length: Int64? {
        switch self {
        case .none: 0
        case .data(let data): Int64(data.count)
        case .stream(_, let length, _): length
        }
    }

    /// Creates a source from a prepared body.
    package init(_ body: HTTPBody) throws(SluiceError) {
        switch body.source {
        case .none: self = .none
        case .data(let data): self = .data(data)
        case .stream(let stream): self = .stream(stream, length: body.length, isReplayable: body.isReplayable)
        case .file, .deferred: throw SluiceError(.unsupported, "The body has to be prepared before it can be sent.")
        }
    }
}
#endif
