#if os(Linux)
import CCurl
import SluiceHTTP

extension Exchange {
    /// Sets the handle up to reach servers as planned, unless it is already.
    func setPlan(_ plan: ConnectionPlan) {
        guard plan !== self.plan else { return }
        self.plan = plan
        allowedAddress = ""
        setTLS(plan.tls)
        lacksTLS = handle.failure != CURLE_OK
        setRoute(plan)
    }
}
#endif
