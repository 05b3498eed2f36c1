import Foundation
import SluiceHTTP

#if canImport(FoundationNetworking)
import FoundationNetworking
#endif

extension HTTPResponse {
    /// Creates a head from the session's response, which has neither the version nor the order of the fields. Fields
    /// are sorted by name, so that equal responses give equal heads.
    init(_ response: HTTPURLResponse) {
        let fields = response.allHeaderFields.compactMap { name, value in
            (name as? String).map { ($0, "\(value)") }
        }
        self.init(status: HTTPStatus(rawValue: response.statusCode), headers: HTTPHeaders(joined: fields))
    }
}

extension HTTPHeaders {
    /// Creates fields from a list in which repeated fields are joined by commas. `Set-Cookie` is split again, since
    /// later code could not split it (RFC 6265 §3).
    init(joined fields: [(String, String)]) {
        self.init()
        for (name, value) in fields.sorted(by: { $0.0 < $1.0 }) {
            let name = HTTPHeaderName(name)
            if name == .setCookie {
                for cookie in value.splitCookies { append(name, cookie) }
            } else {
                append(name, value)
            }
        }
    }
}

extension String {
    /// The cookies of a joined field. A comma separates two cookies if a token and `=` follow it, unlike the comma in
    /// `Expires=Wed, 01 Jan`.
    fileprivate var splitCookies: [String] {
        var cookies: [String] = []
        for piece in split(separator: ",", omittingEmptySubsequences: false) {
            let name = piece.prefix { $0 != "=" && $0 != ";" }.drop { $0 == " " }
            let beginsCookie =
                name.endIndex < piece.endIndex && piece[name.endIndex] == "=" && !name.isEmpty
                && name.utf8.allSatisfy(\.isTokenCharacter)
            if let last = cookies.last, !beginsCookie {
                cookies[cookies.count - 1] = last + "," + piece
            } else {
                cookies.append(String(piece.drop { $0 == " " }))
            }
        }
        return cookies
    }
}
