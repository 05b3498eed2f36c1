import Foundation
import Sluice

/// Parses a part of an archive. Users can read and change archives, and only a recorder creates parts of them.
private func parsed<Part: Decodable>(_ json: String = "{}") -> Part {
    do {
        return try JSONDecoder().decode(Part.self, from: Data(json.utf8))
    } catch {
        fatalError("\(json): \(error)")
    }
}

extension HAR.Entry {
    init(startedDateTime: Date, method: String, url: String, status: Int, httpVersion: String, timings: HAR.Timings) {
        self = parsed(#"{"startedDateTime":"2026-01-01T00:00:00Z","request":{"method":"","url":""}}"#)
        self.startedDateTime = startedDateTime
        request.method = method
        request.url = url
        response.status = status
        response.httpVersion = httpVersion
        self.timings = timings
        let phases = [timings.blocked, timings.dns, timings.connect, timings.send, timings.wait, timings.receive]
        time = phases.reduce(0) { $0 + ($1 ?? 0) }
    }
}

extension HAR.Timings {
    init(
        blocked: Double? = nil,
        dns: Double? = nil,
        connect: Double? = nil,
        ssl: Double? = nil,
        send: Double = 0,
        wait: Double = 0,
        receive: Double = 0
    ) {
        self = parsed()
        self.blocked = blocked
        self.dns = dns
        self.connect = connect
        self.ssl = ssl
        self.send = send
        self.wait = wait
        self.receive = receive
    }
}

extension HAR.Parameter {
    init(name: String, value: String) {
        self = parsed()
        self.name = name
        self.value = value
    }
}

extension HAR.PostData {
    init(mimeType: String) {
        self = parsed()
        self.mimeType = mimeType
    }
}

extension HAR {
    /// Creates a recording of a program that loaded a page.
    init(_ entries: [HAR.Entry], recordedBy program: String, pageTitle: String) {
        let page: JSON = ["startedDateTime": "2026-01-01T00:00:00Z", "title": .string(pageTitle)]
        let creator: JSON = ["name": .string(program), "version": .string(program)]
        self = parsed(JSON.object(["log": ["creator": creator, "pages": [page], "entries": []]]).description)
        self.entries = entries
    }
}

extension HAR.Entry {
    /// Returns the entry with a time spent at a gate.
    func waiting(at gate: String, milliseconds: Int) -> HAR.Entry {
        do {
            var json = try JSON(encoding: self)
            json["_gates"] = [["name": .string(gate), "time": .number(JSONNumber(milliseconds))]]
            return try json.decoded()
        } catch {
            fatalError("\(self): \(error)")
        }
    }
}
