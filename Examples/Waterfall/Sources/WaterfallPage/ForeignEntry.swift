import Sluice

#if canImport(FoundationEssentials)
import FoundationEssentials
#else
import Foundation
#endif

/// An entry of a HAR file of any program, converted to the form that `HAR` reads.
struct ForeignEntry {
    /// The entry; nil if it has no request with a URL. Its start time is that of the file only if ``start`` has one.
    let entry: HAR.Entry?
    /// The start time; nil if the file has none.
    let start: Date?

    private static let numbers: Set = [
        "time", "status", "headersSize", "bodySize", "size", "compression", "blocked", "dns", "connect", "ssl", "send",
        "wait", "receive",
    ]
    private static let objects: Set = ["request", "response", "timings", "content", "postData"]
    private static let arrays: Set = ["headers", "cookies", "queryString", "params"]
    private static let flags: Set = ["httpOnly", "secure"]
    private static let texts: Set = [
        "method", "url", "httpVersion", "statusText", "redirectURL", "mimeType", "text", "encoding", "comment",
        "pageref",
        "serverIPAddress", "connection", "name", "value", "path", "domain", "expires", "fileName", "contentType",
    ]
    /// The place of the start time in the JSON, where it is only a placeholder.
    private static let anyTime = JSON.string("1970-01-01T00:00:00Z")

    init(_ json: JSON) {
        let date = json["startedDateTime"]
        start = date.string.flatMap(ArchiveDate.date) ?? date.double.flatMap(ArchiveDate.date)
        var json = ForeignEntry.cleaned(json)
        guard let url = json["request"]["url"].string, !url.isEmpty else {
            entry = nil
            return
        }
        if json["request"]["method"].string == nil { json["request"]["method"] = "GET" }
        json["startedDateTime"] = ForeignEntry.anyTime
        if let error = ForeignEntry.error(of: json) { json["_error"] = .string(error) }
        ForeignEntry.setSize(&json)
        ForeignEntry.setConnectTime(&json)
        let notes = [json["comment"].string ?? ""] + ForeignEntry.notes(json)
        json.removeValue(forKey: "_webSocketMessages")
        json["comment"] = .string(notes.filter { !$0.isEmpty }.joined(separator: " "))
        entry = try? json.decoded(as: HAR.Entry.self)
    }

    /// Returns the value without the members whose type is wrong and cannot be converted.
    private static func cleaned(_ json: JSON) -> JSON {
        guard case .object(let members) = json else { return json }
        var result: [String: JSON] = [:]
        for (name, value) in members {
            if numbers.contains(name) {
                if let number = value.double ?? value.string.flatMap({ Double($0) }), number.isFinite {
                    result[name] = value.double == nil ? (try? JSON(encoding: number)) : value
                }
            } else if objects.contains(name) {
                if value.dictionary != nil { result[name] = cleaned(value) }
            } else if arrays.contains(name) {
                result[name] = .array(elements(value))
            } else if flags.contains(name) {
                if let flag = value.bool { result[name] = .bool(flag) }
            } else if texts.contains(name) {
                if value.array == nil, value.dictionary == nil, !value.isNull {
                    result[name] = .string(value.stringValue)
                }
            } else if name.utf8.first == UInt8(ascii: "_") {
                // Chrome writes call stacks as objects, which are not shown.
                if value.dictionary == nil { result[name] = value }
            }
        }
        return .object(result)
    }

    /// The elements of a list of names and values, which some programs write as an object.
    private static func elements(_ json: JSON) -> [JSON] {
        if let members = json.dictionary {
            return members.sorted { $0.key < $1.key }.map {
                ["name": .string($0.key), "value": .string($0.value.stringValue)]
            }
        }
        return json.arrayValue.filter { $0.dictionary != nil }.map(cleaned)
    }

    /// The failure. Chrome and Playwright write it into the response, and Charles as a status of its own.
    private static func error(of json: JSON) -> String? {
        let response = json["response"]
        let texts = [
            json["_error"], json["_errorMessage"], response["_error"], response["_failureText"],
            response["_errorMessage"],
        ]
        if let text = texts.lazy.compactMap(\.string).first(where: { !$0.isEmpty }) { return text }
        let status = json["_charlesStatus"].string ?? response["_charlesStatus"].string ?? "COMPLETE"
        return status == "COMPLETE" ? nil : status.lowercased()
    }

    /// Sets the size of the body to `_transferSize`, which Chrome and Safari write where they do not know it.
    private static func setSize(_ json: inout JSON) {
        guard let size = json["response"]["_transferSize"].double, size >= 0,
            (json["response"]["bodySize"].double ?? -1) < 0
        else { return }
        json["response"]["bodySize"] = json["response"]["_transferSize"]
    }

    /// Includes TLS in the time to connect, as the format asks. Some programs write the two separately, which only the
    /// total tells.
    private static func setConnectTime(_ json: inout JSON) {
        let timings = json["timings"]
        func time(_ name: String) -> Double { max(0, timings[name].double ?? 0) }
        let (connect, tls, total) = (time("connect"), time("ssl"), json["time"].double ?? 0)
        guard tls > 0 else { return }
        let sum = ["blocked", "dns", "connect", "send", "wait", "receive"].reduce(0) { $0 + time($1) }
        // One millisecond for each phase, as they may be rounded.
        let isSeparate = tls > connect || (abs(sum + tls - total) < 7 && abs(sum + tls - total) < abs(sum - total))
        if isSeparate, let included = try? JSON(encoding: connect + tls) { json["timings"]["connect"] = included }
    }

    /// Sentences about fields of browsers that `HAR` does not have.
    private static func notes(_ json: JSON) -> [String] {
        var notes: [String] = []
        if let cache = json["_fromCache"].string, !cache.isEmpty { notes.append("Served from the \(cache) cache.") }
        if json["response"]["_fetchedViaServiceWorker"].bool == true { notes.append("Fetched by a service worker.") }
        if let messages = json["_webSocketMessages"].array {
            notes.append("\(Readable.count(messages.count, of: "WebSocket message")).")
        }
        return notes
    }
}
