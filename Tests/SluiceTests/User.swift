import Sluice

/// What the tests' APIs are about.
struct User: Codable, Sendable, Equatable {
    var id: Int
    var name: String
}

/// An error of a user's own, decoded from the failed body.
struct ShopError: ErrorSerializable, Equatable {
    let message: String
    let status: Int?
    let isCancellation: Bool

    init(_ failure: RequestFailure) {
        struct Body: Decodable { let message: String }
        message = (try? failure.decoded(as: Body.self))?.message ?? failure.error.description
        status = failure.response?.status.rawValue
        isCancellation = failure.error.isCancellation
    }
}
