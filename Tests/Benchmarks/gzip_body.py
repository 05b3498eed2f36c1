#!/usr/bin/env python3
"""Creates a compressed JSON array, and measures the time of zlib to inflate it.

    gzip_body.py make LENGTH FILE       writes an array of LENGTH bytes, compressed by gzip
    gzip_body.py time LENGTH FILE       prints the seconds to inflate the file in memory
"""
import gzip
import json
import random
import sys
import time
import zlib

PIECE = 64 << 10


def body(length):
    """Returns an array of sensor readings, padded with spaces to the length."""
    numbers = random.Random(1)
    objects = []
    left = length - 2
    while True:
        reading = {
            "id": 1_000_000 + len(objects),
            "name": f"Sensor number {len(objects)}",
            "celsius": numbers.randrange(-400, 400) / 8,
            "isValid": numbers.random() < 0.7,
            "note": "checked by hand, twice",
            "place": {"city": "Bergen", "latitude": round(numbers.uniform(-90, 90), 5), "longitude": round(numbers.uniform(-180, 180), 5)},
            "tags": ["indoor", f"floor {numbers.randrange(9)}", "calibrated"],
            "source": f"https://example.com/sensors/{numbers.getrandbits(64):x}",
        }
        text = json.dumps(reading)
        if len(text) + 1 > left:
            return ("[" + ",".join(objects)).ljust(length - 1).encode() + b"]"
        objects.append(text)
        left -= len(text) + 1


def inflate(compressed, length):
    """Inflates in pieces, as a client does, without keeping the output. Returns the seconds."""
    start = time.perf_counter()
    stream = zlib.decompressobj(wbits=31)
    count = 0
    for place in range(0, len(compressed), PIECE):
        count += len(stream.decompress(compressed[place : place + PIECE]))
    count += len(stream.flush())
    seconds = time.perf_counter() - start
    if count != length or not stream.eof:
        sys.exit(f"inflated {count} bytes, not {length}")
    return seconds


def main():
    task, length, path = sys.argv[1], int(sys.argv[2]), sys.argv[3]
    if task == "make":
        with open(path, "wb") as file:
            file.write(gzip.compress(body(length), compresslevel=6, mtime=0))
    else:
        with open(path, "rb") as file:
            print(inflate(file.read(), length))


main()
