#!/usr/bin/env python3
"""A relay on 127.0.0.1 that delays what passes through it, and does not limit how much passes.

    relay.py PORT MILLISECONDS

It prints its port, connects each client to PORT on 127.0.0.1 and passes each piece on so many milliseconds after it came, in both
directions: a long way with a wide bandwidth. It reads eagerly while less than 64 MiB of a direction wait, which is 2.6 GB a second at 25 ms.
The bytes stay where they were read to until they are sent; the streams of asyncio would copy them twice more.
"""
import collections
import mmap
import selectors
import socket
import sys
import time

CAPACITY = 64 << 20
PIECE = 1 << 20


class Direction:
    """The way from one socket to the other."""

    def __init__(self, source, target):
        self.source = source
        self.target = target
        # Only what is written to comes into memory.
        self.ring = memoryview(mmap.mmap(-1, CAPACITY))
        self.came = 0
        self.gone = 0
        # When the bytes up to a position may go.
        self.pieces = collections.deque()
        self.has_ended = False
        self.is_blocked = False
        self.is_over = False

    @property
    def reads(self):
        return not self.has_ended and self.came - self.gone < CAPACITY

    def read(self, due):
        place = self.came % CAPACITY
        room = min(CAPACITY - (self.came - self.gone), CAPACITY - place, PIECE)
        count = self.source.recv_into(self.ring[place : place + room])
        self.came += count
        self.has_ended = count == 0
        self.pieces.append((due, self.came))

    def write(self, now):
        while self.pieces and self.pieces[0][0] <= now:
            end = self.pieces[0][1]
            if self.gone < end:
                place = self.gone % CAPACITY
                try:
                    self.gone += self.target.send(self.ring[place : place + min(end - self.gone, CAPACITY - place)])
                except BlockingIOError:
                    self.is_blocked = True
                    return
            if self.gone == end:
                self.pieces.popleft()
        if self.has_ended and not self.pieces and not self.is_over:
            self.is_over = True
            self.target.shutdown(socket.SHUT_WR)


class Connection:
    """Two sockets and the ways between them."""

    def __init__(self, client, server):
        self.directions = (Direction(client, server), Direction(server, client))
        self.events = {client: 0, server: 0}
        for end in self.events:
            end.setblocking(False)
            end.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)

    @property
    def is_over(self):
        return all(direction.is_over for direction in self.directions)

    def watch(self, selector):
        """Asks the selector for what can be used, and for no more."""
        for end, before in self.events.items():
            events = 0
            for direction in self.directions:
                if direction.source is end and direction.reads:
                    events |= selectors.EVENT_READ
                if direction.target is end and direction.is_blocked:
                    events |= selectors.EVENT_WRITE
            if events == before:
                continue
            self.events[end] = events
            if not events:
                selector.unregister(end)
            elif before:
                selector.modify(end, events, self)
            else:
                selector.register(end, events, self)

    def handle(self, end, events, due):
        for direction in self.directions:
            if events & selectors.EVENT_READ and direction.source is end:
                direction.read(due)
            if events & selectors.EVENT_WRITE and direction.target is end:
                direction.is_blocked = False

    def close(self, selector):
        for end, events in self.events.items():
            if events:
                selector.unregister(end)
            end.close()


def relay(listener, port, delay):
    selector = selectors.DefaultSelector()
    selector.register(listener, selectors.EVENT_READ)
    connections = set()
    while True:
        dues = [
            direction.pieces[0][0]
            for connection in connections
            for direction in connection.directions
            if direction.pieces and not direction.is_blocked
        ]
        timeout = max(0, min(dues) - time.monotonic()) if dues else None
        ready = selector.select(timeout)
        now = time.monotonic()
        broken = set()
        for key, events in ready:
            if key.data is None:
                client, _ = listener.accept()
                try:
                    connections.add(Connection(client, socket.create_connection(("127.0.0.1", port))))
                except OSError:
                    client.close()
                continue
            try:
                key.data.handle(key.fileobj, events, now + delay)
            except OSError:
                broken.add(key.data)
        for connection in list(connections):
            try:
                for direction in connection.directions:
                    if not direction.is_blocked:
                        direction.write(now)
            except OSError:
                broken.add(connection)
            if connection in broken or connection.is_over:
                connections.remove(connection)
                connection.close(selector)
            else:
                connection.watch(selector)


def main():
    listener = socket.create_server(("127.0.0.1", 0), backlog=128)
    print(listener.getsockname()[1], flush=True)
    relay(listener, int(sys.argv[1]), int(sys.argv[2]) / 1000)


main()
