import SluiceHTTP

#if canImport(FoundationEssentials)
import FoundationEssentials
#else
import Foundation
#endif

/// Returns the body unchanged.
public struct DataSerializer: ResponseSerializer {
    /// Creates a serializer.
    public init() {}

    /// Returns the body, which may be empty.
    public func serialize(_ response: ServerResponse) throws(SluiceError) -> Data {
        response.body
    }
}
