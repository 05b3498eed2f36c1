import NIOCore

/// Sees on a connection that its client has closed it while a request is answered.
///
/// Hummingbird lets a handler go on that nobody waits for any longer, and its own means to see that,
/// `RequestBody.consumeWithCancellationOnInboundClose`, ends the connection with the request. A client that only says that it will
/// send no more counts as gone too, as it does there.
final class ClientDeparture: ChannelInboundHandler, RemovableChannelHandler {
    typealias InboundIn = NIOAny

    private var hasLeft = false
    /// What to do; of the request that is being answered, since one is at a time.
    private var action: (@Sendable () -> Void)?

    /// Has something done as soon as the client leaves: at once if it has. What was asked for an earlier request is forgotten.
    ///
    /// - Parameters:
    ///   - channel: The client's connection; nothing is done on one without this handler.
    ///   - action: Called on the connection's event loop; what it does for a request that is over must do no harm.
    static func whenClientLeaves(_ channel: any Channel, _ action: @escaping @Sendable () -> Void) {
        channel.eventLoop.execute {
            guard let handler = try? channel.pipeline.syncOperations.handler(type: ClientDeparture.self) else {
                // A closed channel has no handlers any more.
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
