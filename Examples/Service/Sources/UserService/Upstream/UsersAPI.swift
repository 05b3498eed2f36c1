import Sluice

/// The requests to the upstream. They end by the deadline of the task that sends them.
struct UsersAPI: WebService {
    let client: APIClient

    func user(_ id: Int) -> APIRequest<User, UpstreamError> { server.get("users/\(id)") }
    func orders(of id: Int) -> APIRequest<[Order], UpstreamError> { server.get("users/\(id)/orders") }
    func inbox(of id: Int) -> APIRequest<Inbox, UpstreamError> { server.get("users/\(id)/inbox") }

    /// Requests all parts at once. The first failure cancels the others.
    func summary(of id: Int) async throws -> UserSummary {
        let (user, orders, inbox) = try await client.batch(user(id), orders(of: id), inbox(of: id))
        return UserSummary(user, orders, inbox)
    }
}
