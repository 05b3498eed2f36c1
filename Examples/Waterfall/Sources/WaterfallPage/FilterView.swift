/// Filters for groups that need no script. They are radio buttons before everything that they show or hide, so that a style
/// sheet can read them.
struct ShowView {
    /// A filter, and the number of groups that it shows. Its ID is the style class of these groups, and of their parts.
    struct Option {
        let id: String
        let label: String
        let count: Int
    }

    let options: [Option]

    var inputs: [HTML] {
        options.enumerated().map { index, option in
            let state: HTML = index == 0 ? " checked" : option.count == 0 ? " disabled" : .nothing
            return
                "<input class=\"show\" type=\"radio\" name=\"show\" value=\"\(option.id)\" id=\"show-\(option.id)\"\(state)>"
        }
    }

    var labels: HTML {
        let labels = options.map { option -> HTML in
            let style: HTML = option.count == 0 && option.id != "all" ? " class=\"none\"" : .nothing
            return """
                <label for="show-\(option.id)"\(style)>\(option.label) <span>\(Readable.count(option.count))</span></label>

                """
        }
        return "<div class=\"shows\">\(labels)</div>"
    }

    /// The IDs of all options but that of all groups.
    private static let names = ["failed", "repeated", "slower", "faster", "changed", "added", "gone"]

    /// The rules for the checked option. There is no `:has()` in them: with it, browsers would match thousands of rows again
    /// whenever one changes.
    static let css: HTML = {
        let rules = names.map { name -> HTML in
            """
            #show-\(name):checked ~ .part .group:not(.\(name)), #show-\(name):checked ~ .part:not(.\(name)) { display: none; }
            #show-\(name):checked ~ .part .groups { --rows: var(--\(name), 0); }

            """
        }
        let labels = (["all"] + names).map { name -> HTML in
            """
            #show-\(name):checked ~ .bar label[for="show-\(name)"] { background: var(--card); color: var(--ink); box-shadow: 0 1px 2px rgb(0 0 0 / .14); }
            #show-\(name):focus-visible ~ .bar label[for="show-\(name)"] { outline: 2px solid var(--accent); outline-offset: 1px; }

            """
        }
        return "\(rules)\(labels)"
    }()
}

/// The style of a part of a chart: the classes of its groups, and the number of rows of each class, from which the browser
/// estimates the height of a part that it has not drawn.
struct PartStyle {
    private var rows: [String: Int] = [:]
    private var all = 0

    /// Adds a group with its style classes.
    mutating func add(classes: [String], rows count: Int) {
        all += count
        for name in classes { rows[name, default: 0] += count }
    }

    var classes: String { (["part"] + rows.keys.sorted()).joined(separator: " ") }

    var lengths: String {
        let counts = rows.sorted { $0.key < $1.key }.map { "; --\($0.key): \($0.value)" }
        return "--rows: \(all)\(counts.joined())"
    }
}

/// The origins of a recording, the most frequent first. Rows refer to them by number.
struct Origins {
    /// The origins, such as `https://example.com`, with the numbers of their rows.
    let all: [(origin: String, count: Int)]
    private let indices: [String: Int]

    init(_ rows: [Waterfall.Row]) {
        var counts: [String: Int] = [:]
        for row in rows { counts[PageURL(row.entry.request.url).origin, default: 0] += 1 }
        all = counts.sorted { ($1.value, $0.key) < ($0.value, $1.key) }.map { ($0.key, $0.value) }
        indices = Dictionary(uniqueKeysWithValues: all.enumerated().map { ($1.origin, $0) })
    }

    func index(of row: Waterfall.Row) -> Int {
        indices[PageURL(row.entry.request.url).origin] ?? 0
    }
}

/// The filters by text, status, method, origin and time. The script of the page shows them, as they do nothing without it.
struct FilterView {
    private let rows: [Waterfall.Row]
    private let origins: Origins
    /// The durations of the groups, in milliseconds.
    private let times: [Double]

    init(_ rows: [Waterfall.Row], origins: Origins, times: [Double]) {
        self.rows = rows
        self.origins = origins
        self.times = times.sorted()
    }

    var html: HTML {
        """
        <form id="filter" class="filter" role="search" aria-label="Filter" hidden>
        <input type="search" name="text" aria-label="Words in the method, URL, status or error" aria-keyshortcuts="/" \
        placeholder="Words of the URL, status or error  ( / )" autocomplete="off" spellcheck="false">
        \(select("status", "Any status", statuses))\(select("method", "Any method", methods))\
        \(select("origin", "Any origin", originOptions))\(select("time", "Any time", timeOptions))
        <button type="reset">Clear</button><output role="status"></output>
        </form>
        """
    }

    private func select(_ name: String, _ any: String, _ options: [(value: String, label: String)]) -> HTML {
        let items = options.map { "<option value=\"\($0.value)\">\($0.label)</option>" as HTML }
        return """
            <select name="\(name)" aria-label="\(any)"><option value="">\(any)</option>\(items)</select>

            """
    }

    private var statuses: [(value: String, label: String)] {
        let classes = [("1", "1xx"), ("2", "2xx"), ("3", "3xx"), ("4", "4xx"), ("5", "5xx")]
        let counts = Dictionary(rows.map { ($0.status > 0 ? $0.statusLabel.prefix(1) : "0", 1) }, uniquingKeysWith: +)
        return (classes + [("0", "No response")]).compactMap { value, label in
            counts[value[...]].map { (value, "\(label) (\(Readable.count($0)))") }
        }
    }

    private var methods: [(value: String, label: String)] {
        Dictionary(rows.map { ($0.entry.request.method, 1) }, uniquingKeysWith: +)
            .sorted { $0.key < $1.key }
            .map { ($0.key, "\($0.key) (\(Readable.count($0.value)))") }
    }

    private var originOptions: [(value: String, label: String)] {
        origins.all.enumerated().map { index, origin in
            ("\(index)", "\(origin.origin.isEmpty ? "none" : origin.origin) (\(Readable.count(origin.count)))")
        }
    }

    /// The limits of the durations, as far as there are requests above and below them.
    private var timeOptions: [(value: String, label: String)] {
        let limits = [100.0, 300, 1000, 3000, 10_000].filter { (times.last ?? 0) >= $0 && (times.first ?? 0) < $0 }
        let options = limits.map { (Readable.fixed($0, 0), "\(Readable.milliseconds($0)) or more") }
        guard times.count >= 20 else { return options }
        // Rounded down like the durations of the groups, so that the limit includes the group that it is from.
        let slowest = Readable.fixed(times[times.count * 95 / 100], 1)
        return [(slowest, "Slowest 5 % of requests")] + options
    }
}
