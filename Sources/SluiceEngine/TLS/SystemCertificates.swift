#if os(Linux)
import CSSL
import Glibc
import SluiceHTTP

/// The authorities that the system trusts, read once per process.
///
/// OpenSSL 3.0 takes 0.8 ms to parse one certificate, so parsing the 140 certificates of a typical system would delay the first request by
/// 110 ms. The certificates are therefore only indexed by subject. A certificate is parsed when a chain leads to it.
final class SystemCertificates: Sendable {
    private let certificates: [[UInt8]]
    private let subjects: [DistinguishedNameKey: [Int]]
    /// The X509_STORE of contexts that trust only the system's authorities. It is never freed.
    private let sharedStore = Locked<UInt>(0)

    /// The certificates from the first attempt to read them, or nil if it failed.
    private static let first = try? SystemCertificates()
    /// The certificates from a later attempt, or nil if the first one succeeded or all have failed.
    private static let later = Locked<SystemCertificates?>(nil)

    /// Returns the shared instance. Reads files on the first call, and again after a failure.
    static func shared() throws(TLSFailure) -> SystemCertificates {
        if let first { return first }
        if let later = later.withLock({ $0 }) { return later }
        let certificates = try SystemCertificates()
        later.withLock { $0 = certificates }
        return certificates
    }

    private convenience init() throws(TLSFailure) {
        let locations = SystemCertificateLocations()
        let certificates = locations.read()
        guard !certificates.isEmpty else {
            throw TLSFailure(
                .authoritiesUnreadable,
                detail: "there are no certificates in \(locations.description); install the package ca-certificates"
            )
        }
        self.init(certificates)
    }

    /// Indexes DER-encoded certificates. Invalid ones are omitted.
    init(_ candidates: [[UInt8]]) {
        var certificates: [[UInt8]] = []
        var subjects: [DistinguishedNameKey: [Int]] = [:]
        for candidate in candidates {
            guard let subject = DERReader.subject(ofCertificate: candidate[...]) else { continue }
            subjects[DistinguishedNameKey(subject), default: []].append(certificates.count)
            certificates.append(candidate)
        }
        self.certificates = certificates
        self.subjects = subjects
    }

    var count: Int { certificates.count }

    /// Returns the shared store with a new reference for the caller, or nil if memory is short.
    func store() -> OpaquePointer? {
        let address = sharedStore.withLock { address in
            if address == 0 { address = UInt(bitPattern: makeStore()) }
            return address
        }
        guard let store = OpaquePointer(bitPattern: address), X509_STORE_up_ref(store) == 1 else { return nil }
        return store
    }

    /// Creates a separate store, to which other certificates can be added.
    func makeStore() -> OpaquePointer? {
        guard let method = OpaquePointer(bitPattern: SystemCertificates.lookupMethod), let store = X509_STORE_new()
        else {
            return nil
        }
        guard let lookup = X509_STORE_add_lookup(store, method) else {
            X509_STORE_free(store)
            return nil
        }
        // Released when the store is freed.
        X509_LOOKUP_set_method_data(lookup, Unmanaged.passRetained(self).toOpaque())
        return store
    }

    /// An X509_LOOKUP_METHOD, never freed.
    private static let lookupMethod: UInt = {
        guard let method = X509_LOOKUP_meth_new("sluice system certificates") else { return 0 }
        let isSet = X509_LOOKUP_meth_set_get_by_subject(method) { lookup, type, name, result in
            guard type == X509_LU_X509, let lookup, let name, let data = X509_LOOKUP_get_method_data(lookup) else {
                return 0
            }
            let certificates = Unmanaged<SystemCertificates>.fromOpaque(data).takeUnretainedValue()
            return certificates.addAll(named: name, to: lookup) ? sluice_tls_hand_out(lookup, name, result) : 0
        }
        let isFreed = X509_LOOKUP_meth_set_free(method) { lookup in
            guard let data = X509_LOOKUP_get_method_data(lookup) else { return }
            Unmanaged<SystemCertificates>.fromOpaque(data).release()
        }
        return isSet == 1 && isFreed == 1 ? UInt(bitPattern: method) : 0
    }()

    /// Adds the certificates with a subject to the store of a lookup. Returns false if there is none.
    private func addAll(named name: OpaquePointer, to lookup: OpaquePointer) -> Bool {
        var start: UnsafePointer<UInt8>?
        var count = 0
        guard X509_NAME_get0_der(name, &start, &count) == 1, let start else { return false }
        let key = DistinguishedNameKey(UnsafeBufferPointer(start: start, count: count))
        var hasAdded = false
        for candidate in subjects[key] ?? [] {
            let certificate = certificates[candidate].withUnsafeBufferPointer { bytes in
                var position = bytes.baseAddress
                return d2i_X509_AUX(nil, &position, bytes.count)
            }
            guard let certificate else { continue }
            if X509_NAME_cmp(X509_get_subject_name(certificate), name) == 0,
                X509_STORE_add_cert(X509_LOOKUP_get_store(lookup), certificate) == 1
            {
                hasAdded = true
            }
            X509_free(certificate)
        }
        return hasAdded
    }
}
#endif
