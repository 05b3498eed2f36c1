// Users import only Sluice. The HTTP types and the transport's configuration are part of its interface.
@_exported import SluiceHTTP

#if os(Linux)
@_exported import SluiceEngine
#endif
