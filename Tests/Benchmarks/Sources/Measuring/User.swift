/// What every request for a small JSON document decodes; `run` writes the document.
package struct User: Decodable, Sendable {
    package let id: Int
    package let login: String
    package let name: String
    package let email: String
    package let location: String?
    package let followers: Int
    package let isAdmin: Bool
    package let scores: [Double]
}
