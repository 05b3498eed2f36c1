import Sluice

#if canImport(FoundationEssentials)
import FoundationEssentials
#else
import Foundation
#endif

/// A recording prepared for drawing: exchanges in groups, one for each request.
struct Waterfall {
    /// One exchange.
    struct Row {
        enum Kind { case first, retry, redirect, hedge }

        let entry: HAR.Entry
        let kind: Kind
        /// The start, in milliseconds from the start of the recording.
        let start: Double
        let segments: [Segment]

        var end: Double { segments.last.map { $0.start + $0.duration } ?? start }
        var duration: Double { end - start }
        var status: Int { entry.response.status }
        var isFailure: Bool { entry.error != nil || status <= 0 || status >= 400 }
        var isRedirect: Bool { (300..<400).contains(status) && !entry.response.redirectURL.isEmpty }
        /// The transferred length of the body, or that of its content if it is not known, in bytes.
        var size: Int { entry.response.bodySize ?? entry.response.content.size }

        /// The status, or a word for its absence.
        var statusLabel: String {
            if status > 0 { return "\(status)" }
            return isCancelled ? "cancel" : "error"
        }

        /// The style class for the status.
        var outcome: String {
            if status <= 0 { return isCancelled ? "left" : "error" }
            switch status {
            case ..<400 where entry.error != nil: return "error"
            case ..<300: return "ok"
            case ..<400: return "moved"
            case ..<500: return "refused"
            default: return "error"
            }
        }

        private var isCancelled: Bool { entry.error?.hasPrefix("cancelled") == true }
    }

    /// The exchanges of one request: its attempts and redirects.
    struct Group {
        var rows: [Row]

        var start: Double { rows.first?.start ?? 0 }
        var end: Double { rows.map(\.end).max() ?? 0 }
        var duration: Double { end - start }
        /// True if none of its exchanges succeeded.
        var isFailure: Bool {
            let isFollowed = rows.contains { $0.kind == .redirect }
            return !rows.contains { !$0.isFailure && !(isFollowed && $0.isRedirect) }
        }
        var isRepeated: Bool { rows.count > 1 }
        /// The style classes, by which groups are filtered.
        var classes: [String] { (isFailure ? ["failed"] : []) + (isRepeated ? ["repeated"] : []) }
    }

    /// The groups that share one axis.
    struct Part {
        var groups: [Group]
        var end: Double

        var start: Double { groups.first?.start ?? 0 }
        var axis: TimeAxis { TimeAxis(from: start, to: end) }
    }

    /// The maximum number of groups on one axis. With more, a single exchange would be too small to see.
    private static let maximumGroups = 50
    /// The minimum pause before a new axis, in milliseconds. The pause must also be longer than the activity before it.
    private static let idleTime = 2000.0

    let groups: [Group]
    let parts: [Part]
    let began: Date?
    /// The end of the recording, in milliseconds from its start.
    let end: Double

    init(_ har: HAR) {
        let entries = har.entries.enumerated()
            .sorted { ($0.element.startedDateTime, $0.offset) < ($1.element.startedDateTime, $1.offset) }
            .map(\.element)
        let began = entries.first?.startedDateTime
        self.began = began
        groups = Waterfall.grouped(entries).map { members in
            Group(
                rows: members.indices.map { index in
                    let entry = members[index]
                    let since = began.map { entry.startedDateTime.timeIntervalSince($0) * 1000 } ?? 0
                    let start = since.clamped(to: 0...1e14)
                    return Row(
                        entry: entry,
                        kind: index == 0 ? .first : Waterfall.kind(of: entry, after: members[index - 1]),
                        start: start,
                        segments: Segment.all(of: entry, from: start)
                    )
                }
            )
        }
        parts = Waterfall.parts(of: groups)
        end = groups.map(\.end).max() ?? 0
    }

    var rows: [Row] { groups.flatMap(\.rows) }

    private static func parts(of groups: [Group]) -> [Part] {
        var parts: [Part] = []
        // A few more groups on one axis are better than a second axis for a few groups.
        let isOnePart = groups.count <= maximumGroups * 3 / 2
        for group in groups {
            if let part = parts.last {
                let idle = group.start - part.end
                let isFull = !isOnePart && part.groups.count >= maximumGroups
                if !isFull, idle <= max(idleTime, (part.end - part.start) * 2) {
                    parts[parts.count - 1].groups.append(group)
                    parts[parts.count - 1].end = max(part.end, group.end)
                    continue
                }
            }
            parts.append(Part(groups: [group], end: group.end))
        }
        return parts
    }

    private static func kind(of entry: HAR.Entry, after before: HAR.Entry) -> Row.Kind {
        if (entry.redirectCount ?? 0) > 0 { return .redirect }
        if entry.isHedged == true { return .hedge }
        if entry.isFromRetry == true || (entry.attempt ?? 1) > (before.attempt ?? 1) { return .retry }
        return .redirect
    }

    /// Groups the entries of each request: by its ID if the recorder wrote one, otherwise by following redirects.
    private static func grouped(_ entries: [HAR.Entry]) -> [[HAR.Entry]] {
        var groups: [[HAR.Entry]] = []
        var byID: [Int: Int] = [:]
        var byTarget: [String: Int] = [:]
        for entry in entries {
            let known = entry.requestID.map { byID[$0] } ?? byTarget.removeValue(forKey: entry.request.url)
            let group = known ?? groups.count
            if known == nil { groups.append([]) }
            groups[group].append(entry)
            if let id = entry.requestID {
                byID[id] = group
            } else if (300..<400).contains(entry.response.status), !entry.response.redirectURL.isEmpty {
                byTarget[target(of: entry)] = group
            }
        }
        return groups
    }

    /// The redirect target of an entry. Browsers write `Location` unchanged, so it may be only a path.
    private static func target(of entry: HAR.Entry) -> String {
        let target = entry.response.redirectURL
        let url = PageURL(entry.request.url)
        return target.utf8.first == UInt8(ascii: "/") && !target.utf8.starts(with: "//".utf8)
            ? url.origin + target : target
    }
}
