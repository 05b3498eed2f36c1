#!/usr/bin/env python3
"""Counts the public types and declarations in symbol graphs, and fails above a limit.

    surface.py FOLDER [--types N] [--declarations N]      FOLDER: what `swift symbolgraph-extract` wrote

A declaration counts once, in the module that declares it. What the compiler synthesizes does not count.
"""
import argparse
import json
import pathlib
import sys

TYPES = {"swift.struct", "swift.class", "swift.enum", "swift.protocol", "swift.actor", "swift.typealias"}


def count(folder):
    symbols = {}
    for path in sorted(pathlib.Path(folder).glob("*.symbols.json")):
        for symbol in json.loads(path.read_text(encoding="utf-8"))["symbols"]:
            if "::SYNTHESIZED::" not in symbol["identifier"]["precise"] and symbol["accessLevel"] in ("public", "open"):
                symbols[symbol["identifier"]["precise"]] = symbol["kind"]["identifier"]
    types = sum(kind in TYPES - {"swift.typealias"} for kind in symbols.values())
    return types, len(symbols)


def main(arguments):
    parser = argparse.ArgumentParser()
    parser.add_argument("folder")
    parser.add_argument("--types", type=int)
    parser.add_argument("--declarations", type=int)
    options = parser.parse_args(arguments)
    types, declarations = count(options.folder)
    print(f"public types: {types}, public declarations: {declarations}")
    limits = [(options.types, types), (options.declarations, declarations)]
    return 1 if declarations == 0 or any(limit is not None and value > limit for limit, value in limits) else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
