#!/usr/bin/env python3
"""Writes the scale lines of a benchmark as a table and a plot.

    Tests/Benchmarks/run '^scale/' | Tests/Benchmarks/plot.py FILE.svg

Prints the table in Markdown, and writes the plot: microseconds of CPU time a request, both axes logarithmic.
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
PANEL, GAP, LEFT, TOP, HEIGHT = 300, 70, 60, 70, 190

STYLE = """
<style>
  text { font: 12px sans-serif; fill: #444 } .title { font-size: 15px; fill: #222 } .frame { stroke: #bbb; fill: none }
  .grid { stroke: #ddd } .sluice { stroke: #2f6fde; fill: #2f6fde } .ahc { stroke: #c2571a; fill: #c2571a }
  polyline { fill: none !important; stroke-width: 2 } rect.back { fill: #fff }
  @media (prefers-color-scheme: dark) {
    text { fill: #bbb } .title { fill: #eee } .frame { stroke: #555 } .grid { stroke: #333 } rect.back { fill: #0d1117 }
    .sluice { stroke: #6ea0ff; fill: #6ea0ff } .ahc { stroke: #f0904e; fill: #f0904e }
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


def main():
    figures = read(sys.stdin)
    if len(sys.argv) != 2 or not figures:
        print(__doc__.strip() if len(sys.argv) != 2 else "error: there are no lines that begin with scale/", file=sys.stderr)
        sys.exit(64)
    text = plot(figures)
    with open(sys.argv[1], "w", encoding="utf-8") as file:
        file.write(text)
    print(table(figures))


if __name__ == "__main__":
    main()
