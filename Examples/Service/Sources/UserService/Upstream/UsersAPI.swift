import Sluice

/// The requests to the upstream. Each may take the time left until a deadline.
struct UsersAPI: WebService {
    let client: APIClient

    func user(_ id: Int) -> APIRequest<User, UpstreamError> { server.get("users/\(id)") }
    func orders(of id: Int) -> APIRequest<[Order], UpstreamError> { server.get("users/\(id)/orders") }
    func inbox(of id: Int) -> APIRequest<Inbox, UpstreamError> { server.get("users/\(id)/inbox") }

    func user(_ id: Int, by deadline: Deadline) async throws(UpstreamError) -> User {
        try await user(id).timeout(total: deadline.left()).sender().value
    }

    /// Requests all parts at once. The first failure cancels the others.
    func summary(of id: Int, by deadline: Deadline) async throws -> UserSummary {
        let left = deadline.left()
        let (user, orders, inbox) = try await client.batch(
            user(id).timeout(total: left),
            orders(of: id).timeout(total: left),
            inbox(of: id).timeout(total: left)
        )
        return UserSummary(user, orders, inbox)
    }
}
