// A user imports Sluice alone; the words of HTTP are part of its interface.
@_exported import SluiceHTTP
