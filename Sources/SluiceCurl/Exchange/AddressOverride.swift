#if os(Linux)
import CCurl
import SluiceHTTP

/// Addresses to connect to in place of what a name resolves to, in libcurl's lists.
///
/// One address is simply connected to. Several are told to libcurl as those of a name, and stay in the DNS cache that all clients share: so it
/// is a made-up name, one for each set of addresses, below a domain that never resolves to anything else (RFC 6761 §6.4). TLS and the `Host`
/// field go by the URL's name.
///
/// Lives on the engine's thread; libcurl reads the lists for as long as a handle has them.
final class AddressOverride {
    let connectTo: UnsafeMutablePointer<curl_slist>?
    let resolve: UnsafeMutablePointer<curl_slist>?

    init(_ addresses: [IPAddress], port: Int) {
        // Without host and port in front it is for every request, and without a port behind for that of the URL.
        if addresses.count == 1 {
            connectTo = curl_slist_append(nil, "::\(addresses[0].bracketed):")
            resolve = nil
        } else {
            let name = AddressOverride.name(of: addresses)
            connectTo = curl_slist_append(nil, "::\(name):")
            resolve = curl_slist_append(nil, "\(name):\(port):\(addresses.map(\.bracketed).joined(separator: ","))")
        }
    }

    deinit {
        curl_slist_free_all(connectTo)
        curl_slist_free_all(resolve)
    }

    private static let numbers = Locked<[[IPAddress]: Int]>([:])

    /// The same for the same addresses, for as long as the process runs.
    static func name(of addresses: [IPAddress]) -> String {
        let number = numbers.withLock { numbers in
            let number = numbers[addresses] ?? numbers.count + 1
            numbers[addresses] = number
            return number
        }
        return "addresses-\(number).sluice.invalid"
    }
}

extension IPAddress {
    fileprivate var bracketed: String { isIPv4 ? description : "[\(description)]" }
}
#endif
