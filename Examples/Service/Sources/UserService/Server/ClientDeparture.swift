import NIOCore

/// Detects that a client closes its connection while its request is answered.
///
/// Hummingbird does not cancel a handler when its client leaves. Its own means to detect that,
/// `RequestBody.consumeWithCancellationOnInboundClose`, closes the connection after the request. As there, a client that closes
/// only its sending side also counts as gone.
final class ClientDeparture: ChannelInboundHandler, RemovableChannelHandler {
    typealias InboundIn = NIOAny

    private var hasLeft = false
    /// The action for the request that is being answered. A connection answers one request at a time.
    private var action: (@Sendable () -> Void)?

    /// Runs an action when the client leaves, or at once if it has left. It replaces the action of an earlier request.
    ///
    /// - Parameters:
    ///   - channel: The connection of the client. Without this handler in it, nothing happens.
    ///   - action: Called on the event loop of the connection, possibly after the request has ended.
    static func whenClientLeaves(_ channel: any Channel, _ action: @escaping @Sendable () -> Void) {
        channel.eventLoop.execute {
            guard let handler = try? channel.pipeline.syncOperations.handler(type: ClientDeparture.self) else {
                // A closed channel has no handlers.
                if !channel.isActive { action() }
                return
            }
            if handler.hasLeft { action() } else { handler.action = action }
        }
    }

    func userInboundEventTriggered(context: ChannelHandlerContext, event: Any) {
        if let event = event as? ChannelEvent, event == .inputClosed { leave() }
        context.fireUserInboundEventTriggered(event)
    }

    func channelInactive(context: ChannelHandlerContext) {
        leave()
        context.fireChannelInactive()
    }

    private func leave() {
        hasLeft = true
        action?()
        action = nil
    }
}
