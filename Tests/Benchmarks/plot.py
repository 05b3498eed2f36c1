#!/usr/bin/env python3
"""Writes lines of a benchmark as a picture, in light and dark colours.

    Tests/Benchmarks/run '^scale/' | Tests/Benchmarks/plot.py FILE.svg
    Tests/Benchmarks/run | Tests/Benchmarks/plot.py --bars FILE.svg

Without an option it prints the scale lines as a table in Markdown, and plots microseconds of CPU time a request, both axes
logarithmic. With --bars it draws the lines that compare the three clients: a bar for each client, whose length is relative
to the longest bar of the same line. Lines that are missing are left out.
"""
import math
import re
import sys

AXES = {
    "in-flight": "requests in flight",
    "loops": "event loops",
    "hosts": "hosts",
    "body": "bytes in the body",
}
CLIENTS = {"sluice": "Sluice", "ahc": "AsyncHTTPClient"}
ALL_CLIENTS = {**CLIENTS, "urlsession": "URLSession"}
# The lines that are drawn as bars: those of which a higher figure is better, and those of which a lower one is.
BARS = {
    "Higher is better": {
        "rps/1": "Requests per second, one at a time",
        "rps/64": "Requests per second, 64 in flight",
        "rps/256": "Requests per second, 256 in flight",
        "http2/64": "Requests per second over TLS and HTTP/2",
        "gzip/64": "Requests per second, 32 KiB of compressed JSON",
    },
    "Lower is better": {
        "cpu/64": "CPU seconds per 10,000 requests",
        "allocations/get": "Allocations of a request",
        "download/256MiB": "Seconds to download 256 MiB",
        "upload/256MiB": "Seconds to upload 256 MiB",
        "relay/download": "Seconds for 64 MiB, round trip of 50 ms",
        "startup": "Milliseconds of a process with one request",
        "startup/rss": "Its peak memory in MiB",
    },
}
PANEL, GAP, LEFT, TOP, HEIGHT = 300, 70, 60, 70, 190

STYLE = """
<style>
  text { font: 12px sans-serif; fill: #444 } .title { font-size: 15px; fill: #222 } .frame { stroke: #bbb; fill: none }
  .grid { stroke: #ddd } .sluice { stroke: #2f6fde; fill: #2f6fde } .ahc { stroke: #c2571a; fill: #c2571a }
  .urlsession { stroke: #7a828c; fill: #7a828c } .bar { stroke: none } .head { font-weight: bold }
  polyline { fill: none !important; stroke-width: 2 } rect.back { fill: #fff }
  @media (prefers-color-scheme: dark) {
    text { fill: #bbb } .title { fill: #eee } .frame { stroke: #555 } .grid { stroke: #333 } rect.back { fill: #0d1117 }
    .sluice { stroke: #6ea0ff; fill: #6ea0ff } .ahc { stroke: #f0904e; fill: #f0904e }
    .urlsession { stroke: #8b949e; fill: #8b949e }
  }
</style>
"""


def read(lines):
    """Returns {axis: {point: {client: (microseconds, rate)}}}."""
    figures = {}
    for line in lines:
        name = re.match(r"scale/([a-z-]+)/(\d+)(/rate)? ", line)
        if not name:
            continue
        axis, point, rate = name[1], int(name[2]), bool(name[3])
        for client in CLIENTS:
            value = re.search(rf" {client}=([0-9.]+)", line)
            if value:
                of_client = figures.setdefault(axis, {}).setdefault(point, {}).setdefault(client, [None, None])
                of_client[rate] = float(value[1])
    return figures


def number(value):
    """Returns a number with three digits, in groups."""
    if value is None:
        return "–"
    if value == 0:
        return "0"
    value = float(f"{value:.3g}")
    return f"{value:,.{max(0, 2 - math.floor(math.log10(abs(value))))}f}"


def table(figures):
    rows = []
    for axis, title in AXES.items():
        for point, clients in sorted(figures.get(axis, {}).items()):
            cells = [f"{title}: {point:,}"]
            for index in (0, 1):
                cells += [number(clients.get(client, [None, None])[index]) for client in CLIENTS]
            sluice, ahc = (clients.get(client, [None, None])[0] for client in CLIENTS)
            cells.append(f"{sluice / ahc:.2f}" if sluice and ahc else "–")
            rows.append("| " + " | ".join(cells) + " |")
    head = "|  | µs of CPU, Sluice | AsyncHTTPClient | requests/s, Sluice | AsyncHTTPClient | µs, Sluice ÷ AsyncHTTPClient |"
    return "\n".join([head, "|---|--:|--:|--:|--:|--:|"] + rows)


def power_label(value):
    for limit, unit in ((1_000_000, "M"), (1_000, "k")):
        if value >= limit:
            return f"{value // limit}{unit}"
    return str(value)


def panel(axis, points, left):
    xs = sorted(points)
    values = [figures[0] for clients in points.values() for figures in clients.values() if figures[0]]
    low, high = 10 ** math.floor(math.log10(min(values))), 10 ** math.ceil(math.log10(max(values)))
    high = max(high, low * 10)
    span = math.log(xs[-1] / xs[0]) or 1

    def x(point):
        return left + math.log(point / xs[0]) / span * PANEL

    def y(value):
        return TOP + HEIGHT - math.log(value / low) / math.log(high / low) * HEIGHT

    parts = [f'<rect class="frame" x="{left}" y="{TOP}" width="{PANEL}" height="{HEIGHT}"/>']
    parts.append(f'<text x="{left + PANEL / 2}" y="{TOP + HEIGHT + 38}" text-anchor="middle">{AXES[axis]}</text>')
    value = low
    while value <= high:
        parts.append(f'<line class="grid" x1="{left}" x2="{left + PANEL}" y1="{y(value):.1f}" y2="{y(value):.1f}"/>')
        parts.append(f'<text x="{left - 6}" y="{y(value) + 4:.1f}" text-anchor="end">{value:,}</text>')
        value *= 10
    for point in xs:
        parts.append(
            f'<text x="{x(point):.1f}" y="{TOP + HEIGHT + 18}" text-anchor="middle">{power_label(point)}</text>'
        )
    for client in CLIENTS:
        line = [(x(p), y(points[p][client][0])) for p in xs if points[p].get(client, [None])[0]]
        joined = " ".join(f"{a:.1f},{b:.1f}" for a, b in line)
        parts.append(f'<polyline class="{client}" points="{joined}"/>')
        parts += [f'<circle class="{client}" cx="{a:.1f}" cy="{b:.1f}" r="3"/>' for a, b in line]
    return "\n".join(parts)


def plot(figures):
    axes = [axis for axis in AXES if any(f[0] for clients in figures.get(axis, {}).values() for f in clients.values())]
    width = LEFT + len(axes) * (PANEL + GAP)
    parts = [f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {width} {TOP + HEIGHT + 55}">', STYLE]
    parts.append('<rect class="back" width="100%" height="100%"/>')
    parts.append(f'<text class="title" x="{LEFT}" y="25">Microseconds of CPU time a request; lower is better</text>')
    for index, (client, name) in enumerate(CLIENTS.items()):
        left = LEFT + index * 120
        parts.append(f'<circle class="{client}" cx="{left + 5}" cy="45" r="5"/><text x="{left + 16}" y="49">{name}</text>')
    for index, axis in enumerate(axes):
        parts.append(panel(axis, figures[axis], LEFT + index * (PANEL + GAP)))
    return "\n".join(parts + ["</svg>", ""])


def read_bars(lines):
    """Returns {name: {client: figure}} of the lines that are drawn as bars."""
    names = {name for rows in BARS.values() for name in rows}
    figures = {}
    for line in lines:
        name = line.split(" ", 1)[0]
        if name in names:
            values = {client: re.search(rf" {client}=([0-9.]+)", line) for client in ALL_CLIENTS}
            values = {client: float(value[1]) for client, value in values.items() if value}
            if values:
                figures[name] = values
    return figures


def bar_row(title, values, left, top, width):
    """Returns the bars of a line, and the height of the row."""
    parts = [f'<text x="{left}" y="{top + 12}">{title}</text>']
    longest = max(values.values()) or 1
    y = top + 19
    for client in ALL_CLIENTS:
        if client not in values:
            continue
        length = max(values[client] / longest * (width - 62), 1)
        parts.append(f'<rect class="{client} bar" x="{left}" y="{y}" width="{length:.1f}" height="11" rx="2"/>')
        parts.append(f'<text x="{left + length + 6:.1f}" y="{y + 10}">{number(values[client])}</text>')
        y += 15
    return "\n".join(parts), y - top + 12


def bars(figures):
    column, gap, edge = 400, 50, 20
    parts, bottom = [], 0
    columns = [(head, {n: t for n, t in rows.items() if n in figures}) for head, rows in BARS.items()]
    columns = [(head, rows) for head, rows in columns if rows]
    for index, (head, rows) in enumerate(columns):
        left, top = edge + index * (column + gap), 88
        parts.append(f'<text class="head" x="{left}" y="{top - 10}">{head}</text>')
        for name, title in rows.items():
            text, height = bar_row(title, figures[name], left, top, column)
            parts.append(text)
            top += height
        bottom = max(bottom, top)
    width = 2 * edge + len(columns) * column + (len(columns) - 1) * gap
    head = [f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {width} {bottom}" role="img">']
    head.append("<title>Sluice, AsyncHTTPClient and URLSession against nginx on the same machine</title>" + STYLE)
    head.append('<rect class="back" width="100%" height="100%"/>')
    head.append(f'<text class="title" x="{edge}" y="25">Against nginx on the same machine</text>')
    for index, (client, name) in enumerate(ALL_CLIENTS.items()):
        left = edge + index * 140
        head.append(f'<rect class="{client} bar" x="{left}" y="39" width="11" height="11" rx="2"/>')
        head.append(f'<text x="{left + 17}" y="49">{name}</text>')
    return "\n".join(head + parts + ["</svg>", ""])


def main():
    arguments = sys.argv[1:]
    draws_bars = arguments[:1] == ["--bars"]
    files = arguments[1:] if draws_bars else arguments
    figures = (read_bars if draws_bars else read)(sys.stdin) if len(files) == 1 else {}
    if not figures:
        wanted = "the lines of the bars" if draws_bars else "lines that begin with scale/"
        print(__doc__.strip() if len(files) != 1 else f"error: there are none of {wanted}", file=sys.stderr)
        sys.exit(64)
    with open(files[0], "w", encoding="utf-8") as file:
        file.write(bars(figures) if draws_bars else plot(figures))
    if not draws_bars:
        print(table(figures))


if __name__ == "__main__":
    main()
