import Sluice

/// The model of the tests' APIs.
struct User: Codable, Sendable, Equatable {
    var id: Int
    var name: String
}

/// A user-defined error, decoded from the body of a failed response.
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
