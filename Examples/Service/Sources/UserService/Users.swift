/// A user, as the upstream tells of it and as the service does.
struct User: Codable, Sendable, Hashable {
    let id: Int
    let name: String
    let email: String
}

/// Something a user has bought.
struct Order: Codable, Sendable, Hashable {
    let number: Int
    /// In cents.
    let total: Int32
}

/// What waits for a user.
struct Inbox: Codable, Sendable, Hashable {
    let unread: Int
}

/// What the service makes of three answers of the upstream.
struct UserSummary: Codable, Sendable, Hashable {
    let id: Int
    let name: String
    let orders: Int
    /// Of all orders, in cents.
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
