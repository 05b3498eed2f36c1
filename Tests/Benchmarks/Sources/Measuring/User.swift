/// The model of the small JSON document that `run` writes.
package struct User: Codable, Sendable {
    package let id: Int
    package let login: String
    package let name: String
    package let email: String
    package let location: String?
    package let followers: Int
    package let isAdmin: Bool
    package let scores: [Double]
}

extension User {
    /// An example to send.
    package static let example = User(
        id: 583_231,
        login: "octocat",
        name: "The Octocat",
        email: "octocat@example.com",
        location: "San Francisco",
        followers: 3938,
        isAdmin: false,
        scores: [0.5, 12.25, 99.125]
    )
}
