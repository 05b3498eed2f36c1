#!/usr/bin/env python3
"""A relay on 127.0.0.1 that adds a delay and does not limit the bandwidth.

    relay.py PORT MILLISECONDS

It prints its port, connects each client to PORT on 127.0.0.1, and forwards each piece in both directions after the delay. It reads while
less than 64 MiB of a direction wait, which allows 2.6 GB per second at 25 ms. The bytes are sent from the buffer that they were read into,
because the streams of asyncio would copy them twice more.
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
    """The bytes in transit from one socket to the other."""

    def __init__(self, source, target):
        self.source = source
        self.target = target
        # Pages that were never written use no memory.
        self.ring = memoryview(mmap.mmap(-1, CAPACITY))
        self.received = 0
        self.sent = 0
        # The times from which the bytes up to a position can be sent.
        self.pieces = collections.deque()
        self.has_ended = False
        self.is_blocked = False
        self.is_over = False

    @property
    def reads(self):
        return not self.has_ended and self.received - self.sent < CAPACITY

    def read(self, due):
        place = self.received % CAPACITY
        room = min(CAPACITY - (self.received - self.sent), CAPACITY - place, PIECE)
        count = self.source.recv_into(self.ring[place : place + room])
        self.received += count
        self.has_ended = count == 0
        self.pieces.append((due, self.received))

    def write(self, now):
        while self.pieces and self.pieces[0][0] <= now:
            end = self.pieces[0][1]
            if self.sent < end:
                place = self.sent % CAPACITY
                try:
                    self.sent += self.target.send(self.ring[place : place + min(end - self.sent, CAPACITY - place)])
                except BlockingIOError:
                    self.is_blocked = True
                    return
            if self.sent == end:
                self.pieces.popleft()
        if self.has_ended and not self.pieces and not self.is_over:
            self.is_over = True
            self.target.shutdown(socket.SHUT_WR)


class Connection:
    """Two sockets and both directions between them."""

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
        """Registers only the events that can be handled now."""
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
