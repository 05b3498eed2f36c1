#!/usr/bin/env python3
"""Verifies the digests that a client sent to a server that accepts any digest (RFC 7616 §3.4).

    digest_check.py USER PASSWORD FILE      FILE: the Authorization values of GET requests, one in each line

Fails if a response does not match the password, if a nonce was used twice with the same count, or if there is no digest.
"""
import hashlib
import re
import sys

PARAMETER = re.compile(r'(\w+)=(?:"([^"]*)"|([^\s,]+))')
ALGORITHMS = {"MD5": hashlib.md5, "SHA-256": hashlib.sha256}


def main():
    user, password, path = sys.argv[1:]
    used = set()
    with open(path) as file:
        for line in file:
            if not line.startswith("Digest "):
                continue
            fields = {name: quoted or token for name, quoted, token in PARAMETER.findall(line)}
            algorithm = ALGORITHMS[fields.get("algorithm", "MD5")]

            def digest(text):
                return algorithm(text.encode()).hexdigest()

            secret = digest(f"{user}:{fields['realm']}:{password}")
            values = [secret, fields["nonce"], fields["nc"], fields["cnonce"], fields["qop"], digest("GET:" + fields["uri"])]
            if fields["username"] != user or fields["response"] != digest(":".join(values)):
                sys.exit(f"The response does not match the password: {line}")
            use = (fields["nonce"], fields["nc"])
            if use in used:
                sys.exit(f"The nonce and count were used before: {line}")
            used.add(use)
    if not used:
        sys.exit("No digest was sent.")


main()
