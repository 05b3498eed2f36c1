// The one choice between FoundationEssentials, which loads faster on Linux, and Foundation. The other modules import this one and do not
// re-export it: both libraries declare `TimeInterval`, and a file that sees both cannot write `(TimeInterval).self`.
#if canImport(FoundationEssentials)
@_exported import FoundationEssentials
#else
@_exported import Foundation
#endif
