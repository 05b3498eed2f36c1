#!/usr/bin/env python3
"""Fails where the folders of a module under Sources depend on each other in a circle.

    circles.py [--graph] [MODULE…]      MODULE: the folder of a module; all under Sources by default. --graph prints every arrow

A folder depends on another if its code names a type that is declared at the top level of the other's files, and of no other folder's. Comments and
strings do not count, and neither do members that an extension adds. For each circle it prints the arrows within it with the names that tie them, the
weakest first: those are the ones to cut.
"""
import collections
import pathlib
import re
import sys

DECLARATION = re.compile(
    r"^(?:@\w+(?:\([^)]*\))?\s+)*(?:(?:public|package|internal|final|indirect|nonisolated)\s+)*(?:struct|class|enum|actor|protocol|typealias)\s+(\w+)", re.M
)
WORD = re.compile(r"\b[A-Za-z_]\w*")


def code_of(text):
    """The text without comments and the contents of strings; interpolations go with their strings."""
    result, position = [], 0
    pattern = re.compile(r'//[^\n]*|/\*|(#*)("""|")')
    while match := pattern.search(text, position):
        result.append(text[position : match.start()])
        end = match.end()
        if match[0] == "/*":
            depth = 1
            while depth and end < len(text):
                step = re.compile(r"/\*|\*/").search(text, end)
                if not step:
                    end = len(text)
                    break
                depth += 1 if step[0] == "/*" else -1
                end = step.end()
        elif match[2]:
            close, escape = match[2] + match[1], "\\" + match[1]
            while end < len(text) and not text.startswith(close, end):
                end += 2 + len(match[1]) if text.startswith(escape, end) else 1
            end += len(close)
        result.append(" ")
        position = end
    result.append(text[position:])
    return "".join(result)


def arrows_of(module):
    """For each folder of a module, the folders it depends on, with the names that tie them."""
    folders = {}
    for path in sorted(module.rglob("*.swift")):
        parts = path.relative_to(module).parts
        folder = parts[0] if len(parts) > 1 else "."
        folders[folder] = folders.get(folder, "") + "\n" + code_of(path.read_text(encoding="utf-8"))
    owners = collections.defaultdict(set)
    for folder, code in folders.items():
        for name in DECLARATION.findall(code):
            owners[name].add(folder)
    arrows = collections.defaultdict(collections.Counter)
    for folder, code in folders.items():
        for name, count in collections.Counter(WORD.findall(code)).items():
            homes = owners.get(name, ())
            if len(homes) == 1 and folder not in homes:
                arrows[folder, next(iter(homes))][name] += count
    return folders, arrows


def circles_of(nodes, arrows):
    """The strongly connected components of more than one node (Tarjan)."""
    next_nodes = collections.defaultdict(list)
    for source, target in sorted(arrows):
        next_nodes[source].append(target)
    index, low, stack, found = {}, {}, [], []

    def visit(node):
        index[node] = low[node] = len(index)
        stack.append(node)
        for other in next_nodes[node]:
            if other not in index:
                visit(other)
            if other in stack:
                low[node] = min(low[node], low[other])
        if low[node] == index[node]:
            circle = [stack.pop()]
            while circle[-1] != node:
                circle.append(stack.pop())
            if len(circle) > 1:
                found.append(sorted(circle))

    for node in sorted(nodes):
        if node not in index:
            visit(node)
    return found


def described(arrow, names):
    shown = [f"{name} {count}" for name, count in names.most_common(8)]
    return f"    {arrow[0]} -> {arrow[1]}: {', '.join(shown)}{', …' if len(names) > 8 else ''}"


def main(arguments):
    prints_graph = "--graph" in arguments
    modules = [pathlib.Path(argument) for argument in arguments if argument != "--graph"]
    if not modules:
        sources = pathlib.Path(__file__).resolve().parents[2] / "Sources"
        modules = sorted(path for path in sources.iterdir() if path.is_dir() and any(path.rglob("*.swift")))
    for module in modules:
        if not any(module.rglob("*.swift")):
            print(f"There is no Swift under {module}.", file=sys.stderr)
            return 2
    count = 0
    for module in modules:
        folders, arrows = arrows_of(module)
        if prints_graph and arrows:
            print(module.name)
            for arrow, names in sorted(arrows.items()):
                print(described(arrow, names))
        for circle in circles_of(folders, arrows):
            count += 1
            print(f"{module.name}: a circle of {', '.join(circle)}")
            within = [(arrow, names) for arrow, names in arrows.items() if arrow[0] in circle and arrow[1] in circle]
            for arrow, names in sorted(within, key=lambda each: (sum(each[1].values()), each[0])):
                print(described(arrow, names))
    if count == 0:
        print("No circles.")
    return 1 if count else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
