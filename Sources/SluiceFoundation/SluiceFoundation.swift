// Imports FoundationEssentials where it exists: on Linux it loads faster than Foundation. The other modules import this
// module and do not re-export it. Both libraries declare `TimeInterval`, which is ambiguous in a file that imports both.
#if canImport(FoundationEssentials)
@_exported import FoundationEssentials
#else
@_exported import Foundation
#endif
