// The only choice between FoundationEssentials, which starts faster on Linux, and Foundation. Modules that import SluiceHTTP have it.
#if canImport(FoundationEssentials)
@_exported import FoundationEssentials
#else
@_exported import Foundation
#endif
