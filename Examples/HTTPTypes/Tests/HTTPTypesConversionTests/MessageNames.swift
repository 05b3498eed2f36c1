import Sluice

// This file imports one of the modules only, so that the names are not ambiguous.

typealias ClientRequest = HTTPRequest
typealias ClientResponse = HTTPResponse
