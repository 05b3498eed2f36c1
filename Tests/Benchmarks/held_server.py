#!/usr/bin/env python3
"""An HTTP/1.1 server on 127.0.0.1 that keeps connections open and holds requests until a number of them wait.

    held_server.py COUNT [CERTIFICATE KEY]

It prints its port. It answers requests for /held once COUNT of them wait, and all others at once. With a certificate and its key,
it uses TLS.
"""
import asyncio
import ssl
import sys

ANSWER = b"HTTP/1.1 200 OK\r\nContent-Type: text/plain\r\nContent-Length: 2\r\n\r\nok"


class Peer(asyncio.Protocol):
    count = 0
    held = set()

    def connection_made(self, transport):
        self.transport = transport
        self.input = b""

    def data_received(self, data):
        self.input += data
        while (end := self.input.find(b"\r\n\r\n")) >= 0:
            target = self.input.split(b" ", 2)[1]
            self.input = self.input[end + 4 :]
            if target == b"/held":
                self.hold()
            else:
                self.transport.write(ANSWER)

    def connection_lost(self, error):
        Peer.held.discard(self)

    def hold(self):
        Peer.held.add(self)
        if len(Peer.held) < Peer.count:
            return
        for peer in Peer.held:
            peer.transport.write(ANSWER)
        Peer.held.clear()


async def main():
    Peer.count = int(sys.argv[1])
    options = {}
    if len(sys.argv) > 2:
        context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
        context.load_cert_chain(sys.argv[2], sys.argv[3])
        options = {"ssl": context, "ssl_handshake_timeout": 240}
    server = await asyncio.get_running_loop().create_server(Peer, "127.0.0.1", 0, backlog=4096, **options)
    print(server.sockets[0].getsockname()[1], flush=True)
    await server.serve_forever()


asyncio.run(main())
