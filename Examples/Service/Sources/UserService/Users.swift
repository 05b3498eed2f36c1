/// A user, as both the upstream and the service encode it.
struct User: Codable, Sendable, Hashable {
    let id: Int
    let name: String
    let email: String
}

/// A purchase of a user.
struct Order: Codable, Sendable, Hashable {
    let number: Int
    /// The total in cents.
    let total: Int32
}

/// The inbox of a user.
struct Inbox: Codable, Sendable, Hashable {
    let unread: Int
}

/// The combination of three responses of the upstream.
struct UserSummary: Codable, Sendable, Hashable {
    let id: Int
    let name: String
    let orders: Int
    /// The total of all orders, in cents.
    let spent: Int
    let unread: Int

    init(_ user: User, _ orders: [Order], _ inbox: Inbox) {
        id = user.id
        name = user.name
        self.orders = orders.count
        spent = orders.reduce(0) { $0 + Int($1.total) }
        unread = inbox.unread
    }
}
