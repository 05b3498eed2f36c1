import SluiceHTTP

#if canImport(FoundationEssentials)
import FoundationEssentials
#else
import Foundation
#endif

/// Gives the body as it came.
public struct DataSerializer: ResponseSerializer {
    /// Makes a serializer.
    public init() {}

    /// Gives the body, which may be empty.
    public func serialize(_ response: ServerResponse) throws(SluiceError) -> Data {
        response.body
    }
}
