"""A device without the SDK: streams one channel of PPG, needs only `pip install websockets` (13 or later).

    python device.py --url http://localhost:8080 --key svc_... [--device band-1] [--model ID] [--seconds 60] [--at-once]

It keeps what it measured until the service has acknowledged it (an hour at most, and says what it drops), reconnects by itself, goes on
where the service says, and sends the last minute again to a gateway that has none of it. Put your sensor into `measure`. The protocol is
described in INGEST.md of the service.
"""

import argparse
import asyncio
import json
import math
import random
import struct
import time
import urllib.parse
import urllib.request
from collections import deque

from websockets.asyncio.client import connect
from websockets.exceptions import ConnectionClosed, InvalidHandshake

RATE_HZ = 100
FRAME_INSTANTS = 20  # 0.2 s of data in a frame
KEPT_MS = 60_000  # acknowledged frames that are kept for a gateway that lost them
MOST_FRAMES = 18_000  # one hour; beyond it the oldest go
DROPPED_FRAMES = 300  # one minute, at once
FINAL = {1000, 1002, 1003, 1007, 1008, 1009, 1010}  # and 4000 to 4999: do not come back
INT16 = 1


def encode(channel, seq, ts, samples):
    """A frame: version, channel, encoding, 0, seq, ts (ms since the epoch), then the samples, little endian."""
    return struct.pack(f"<BBBBId{len(samples)}h", 1, channel, INT16, 0, seq, ts, *samples)


def measure(instant):
    """The sensor: a pulse of 72 bpm. Returns a whole number from -32768 to 32767."""
    phase = 2 * math.pi * 72 / 60 * instant / RATE_HZ
    return round(8000 * math.sin(phase) + 2500 * math.sin(2 * phase + 1) + random.gauss(0, 40))


def create_model(url, key):
    """Makes a device model by REST; make one for each kind of device, once, and keep its id."""
    channel = {"modality": "ppg_green", "sample_rate_hz": RATE_HZ, "bit_depth": 16, "num_channels": 1}
    request = urllib.request.Request(
        f"{url}/v1/device-models",
        json.dumps({"name": "device.py", "modality_channels": [channel]}).encode(),
        {"Authorization": f"Bearer {key}", "Content-Type": "application/json"},
    )
    with urllib.request.urlopen(request, timeout=30) as response:
        return json.load(response)["id"]


class Device:
    def __init__(self, url, key, device_id, model_id):
        query = {"device_id": device_id, "device_model_id": model_id}
        self.url = url.replace("http", "ws", 1) + "/stream/ingest?" + urllib.parse.urlencode(query)
        self.headers = {"Authorization": f"Bearer {key}"}
        self.frames = deque()  # (number of the first instant since the start of the program, ts in ms, samples)
        self.news = asyncio.Event()  # there are new frames or acknowledgements, or the data have ended
        self.ended = False
        self.session = None
        self.offset = 0  # number of an instant in the session, less its number since the start of the program
        self.next = 0  # number of the next instant to send
        self.acked = 0  # number of the first instant that is not acknowledged
        self.answered = 0  # of what was sent on this connection, all before this is acknowledged or refused

    def push(self, first, ts, samples):
        self.frames.append((first, ts, samples))
        if len(self.frames) > MOST_FRAMES:
            self.drop()
        self.news.set()

    def drop(self):
        dropped = [self.frames.popleft() for _ in range(DROPPED_FRAMES)]
        lost = sum(len(samples) for first, _, samples in dropped if first >= self.acked)
        if lost > 0:
            print(f"no room: dropped the oldest {lost / RATE_HZ:g} s of data, not acknowledged", flush=True)

    async def run(self):
        """Connects until the session has ended; raises ConnectionClosed where the service refuses the device."""
        failures = 0
        while True:
            try:
                now = f"&clock={1000 * time.time():.0f}"  # the service corrects the stamps of a clock that is off
                async with connect(self.url + now, additional_headers=self.headers) as socket:
                    self.start(json.loads(await socket.recv()))
                    failures = 0
                    if await self.stream(socket):
                        return
            except ConnectionClosed as closed:
                code = closed.rcvd.code if closed.rcvd else 1006
                if code in FINAL or 4000 <= code <= 4999:
                    raise
                print(f"closed with {code}, coming back")
            except (OSError, InvalidHandshake, TimeoutError) as error:
                print(f"not connected: {error}")
            await asyncio.sleep(random.uniform(0, min(30, 0.5 * 2**failures)))  # full jitter
            failures += 1

    def start(self, ready):
        channel = ready["channels"][0]
        if ready["session_id"] == self.session:
            if ready["replay_ms"] > 0:  # this gateway has nothing of the session: all that is left, with its old numbers
                self.next = self.frames[0][0] if self.frames else self.next
            else:
                self.next = self.acked = channel["next_seq"] - self.offset
        else:  # a new session: what was not acknowledged goes there, numbered from where it begins
            self.offset = channel["next_seq"] - self.acked
            self.next = self.acked
        self.session = ready["session_id"]
        self.answered = self.next
        self.most_ms = ready["limits"]["max_unacked_ms"]
        print(f"session {self.session}", flush=True)

    async def stream(self, socket):
        """Sends and receives until the session has ended (True) or the connection is lost (ConnectionClosed)."""
        sending = asyncio.create_task(self.send(socket))
        try:
            async for text in socket:
                message = json.loads(text)
                if message["type"] == "ack":
                    self.acknowledge(message["next_seq"].get("0"))
                elif message["type"] == "pong":  # of the frames before its ping, what is not acknowledged was refused
                    self.answered = max(self.answered, message["t"])
                    self.news.set()
                elif message["type"] == "ended":
                    return True
                elif message["type"] in ("error", "notice"):
                    print(f"{message['type']} {message['code']}: {message['detail']}")
            await sending  # closed with 1000 before the end
            return False
        finally:
            sending.cancel()

    async def send(self, socket):
        asked = None
        while True:
            self.news.clear()
            for first, ts, samples in list(self.frames):
                if first < self.next:
                    continue
                if (self.next - self.answered) * 1000 / RATE_HZ > self.most_ms:
                    if asked != self.next:
                        asked = self.next
                        await socket.send(json.dumps({"type": "ping", "t": asked}))
                    break  # until more is acknowledged or refused
                await socket.send(encode(0, first + self.offset, ts, samples))
                self.next = first + len(samples)
            last = self.frames[-1] if self.frames else None
            if self.ended and (last is None or self.next >= last[0] + len(last[2])):
                await socket.send('{"type":"end"}')
                return
            await self.news.wait()

    def acknowledge(self, next_seq):
        if next_seq is None:
            return
        self.acked = next_seq - self.offset
        self.answered = max(self.answered, self.acked)
        kept = self.acked - KEPT_MS * RATE_HZ // 1000
        while self.frames and self.frames[0][0] < kept:
            self.frames.popleft()
        self.news.set()


async def sample(device, seconds, at_once):
    """Reads the sensor; `at_once` gives data of the past, which the service takes as fast as they come."""
    begun = time.time() - (seconds if at_once else 0)
    for first in range(0, int(seconds * RATE_HZ), FRAME_INSTANTS):
        complete = begun + (first + FRAME_INSTANTS) / RATE_HZ
        await asyncio.sleep(0 if at_once else max(0, complete - time.time()))
        device.push(first, 1000 * (begun + first / RATE_HZ), [measure(first + i) for i in range(FRAME_INSTANTS)])
    device.ended = True
    device.news.set()


async def main():
    parser = argparse.ArgumentParser(description="Streams a simulated PPG.")
    parser.add_argument("--url", default="http://localhost:8080")
    parser.add_argument("--key", required=True)
    parser.add_argument("--device", default="python-1")
    parser.add_argument("--model", help="id of a device model with one channel; default: a new one")
    parser.add_argument("--seconds", type=float, default=60)
    parser.add_argument("--at-once", action="store_true")
    args = parser.parse_args()
    device = Device(args.url, args.key, args.device, args.model or create_model(args.url, args.key))
    sampling = asyncio.create_task(sample(device, args.seconds, args.at_once))
    await device.run()
    await sampling
    print("the session has ended")


if __name__ == "__main__":
    asyncio.run(main())
