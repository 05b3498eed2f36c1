// A user imports Sluice alone; the words of HTTP are part of its interface, and so is the transport's configuration.
@_exported import SluiceHTTP

#if os(Linux)
@_exported import SluiceEngine
#endif
