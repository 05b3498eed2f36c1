/// The numbers that the upstream, the services and the report have in common.
public struct FleetRules: Sendable {
    /// The number of services.
    public var services = 3
    /// The orders per second that all services together may request.
    public var rate = 100
    /// The orders that they may request at once after a pause.
    public var burst = 20
    /// The share of the rate that each service takes while Redis is away.
    public var share: Double { 1 / Double(services) }
    /// The lifetime of an access token in seconds. A service replaces it when a tenth of that is left.
    public var tokenLifetime = 5.0
    /// The number of pages.
    public var pages = 20
    /// The time in seconds for which a cache may use a page.
    public var pageLifetime = 2.0
    /// The time in seconds by which requests that were sent one after another may arrive closer together.
    public var jitter = 0.25
    /// The time in seconds after which a service has noticed that Redis is back.
    public var recovery = 1.5

    /// Creates the numbers of the example.
    public init() {}
}
