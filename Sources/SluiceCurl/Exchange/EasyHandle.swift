#if os(Linux)
import CCurl
#if canImport(FoundationEssentials)
import FoundationEssentials
#else
import Foundation
#endif
import Glibc

/// A libcurl easy handle whose every option's result is kept: the first one that fails is the one to report.
///
/// Lives on the engine's thread only.
struct EasyHandle {
    let raw: UnsafeMutableRawPointer
    var failure = CURLE_OK
    /// The other end of the last transfer.
    var peer = Peer()

    struct Peer {
        var ip = ""
        var port = 0
        var text = ""
    }

    init?() {
        guard let raw = curl_easy_init() else { return nil }
        self.raw = raw
    }

    mutating func set(_ option: CURLoption, _ value: Int) {
        note(sluice_easy_set_long(raw, option, value))
    }

    mutating func set(_ option: CURLoption, offset value: Int64) {
        note(sluice_easy_set_offset(raw, option, curl_off_t(value)))
    }

    /// libcurl copies strings.
    mutating func set(_ option: CURLoption, string value: UnsafePointer<CChar>?) {
        note(sluice_easy_set_string(raw, option, value))
    }

    /// libcurl copies the bytes; none stand for no blob.
    mutating func set(_ option: CURLoption, bytes: Data?) {
        guard let bytes else { return note(sluice_easy_set_blob(raw, option, nil, 0)) }
        note(bytes.withUnsafeBytes { sluice_easy_set_blob(raw, option, $0.baseAddress, $0.count) })
    }

    /// libcurl keeps the pointer: header lists, buffers and contexts.
    mutating func set(_ option: CURLoption, pointer value: UnsafeMutableRawPointer?) {
        note(sluice_easy_set_pointer(raw, option, value))
    }

    mutating func set(_ option: CURLoption, callback: sluice_data_callback) {
        note(sluice_easy_set_data_callback(raw, option, callback))
    }

    mutating func note(_ code: CURLcode) {
        if failure == CURLE_OK { failure = code }
    }

    func long(_ info: CURLINFO) -> Int {
        var value = 0
        sluice_easy_get_long(raw, info, &value)
        return value
    }

    func offset(_ info: CURLINFO) -> Int64 {
        var value: curl_off_t = 0
        sluice_easy_get_offset(raw, info, &value)
        return Int64(value)
    }
}
#endif
