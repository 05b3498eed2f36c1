// Imports the C library of the platform. The other modules import this module and do not re-export it. A type that has a
// function `close` calls that of the C library as `SluiceLibc.close`, on every platform.
#if canImport(Glibc)
@_exported import Glibc
#elseif canImport(Musl)
@_exported import Musl
#else
@_exported import Darwin
#endif
