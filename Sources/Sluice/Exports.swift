// Users import only Sluice. The HTTP types and the transport's configuration are part of its interface.
@_exported import SluiceCache
@_exported import SluiceHTTP
@_exported import SluiceJSON

#if os(Linux)
@_exported import SluiceEngine
#endif
