#if os(Linux)
import CCurl
import SluiceHTTP

extension Exchange {
    /// Sets by which way connections go.
    func setRoute(_ plan: ConnectionPlan) {
        // An empty name keeps libcurl from looking into the environment itself.
        handle.set(CURLOPT_PROXY, string: "")
    }
}
#endif
