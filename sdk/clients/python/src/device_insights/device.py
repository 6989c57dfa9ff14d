"""The device side: streams samples to the service."""

import asyncio
import contextlib
import json
import logging
import math
import re
import time
from collections import deque
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, field, replace
from numbers import Real
from types import TracebackType
from typing import Any, Literal, Self, cast

from websockets.asyncio.client import ClientConnection
from websockets.exceptions import ConnectionClosed

from .checks import EARLIEST_MS, SECONDS_UNTIL, check_at_least, check_ms, fields_of, values_of
from .errors import ClosedError, UnavailableError
from .link import Backoff, Link, Status
from .outbox import Channel, Outbox
from .types import ErrorMessage, NoticeMessage, ReadyMessage

_LOG = logging.getLogger("device_insights")
_PING_S = 15
_PING = json.dumps({"type": "ping"})
_END = json.dumps({"type": "end"})
_STAMP_TOLERANCE_MS = 0.5
"""Maximum difference of a stamp from the one that the batch predicts; beyond it, a new batch begins."""
_CLOCK_SET_MS = 30_000
"""A clock was set if it moved by more than this against a stopwatch; a drift takes weeks for it."""


@dataclass
class DeviceSummary:
    """What became of the samples of a device since it was created."""

    session_id: str = ""
    """The last session; empty if there was none."""
    reconnects: int = 0
    """Connections after the first that became ready."""
    frames_sent: int = 0
    """Frames that were sent, including repetitions."""
    frames_refused: int = 0
    """Frames that the service refused."""
    samples_dropped: int = 0
    """Values that were lost: the oldest if the buffer was full, and those not acknowledged when the device stopped."""


@dataclass
class _Batch:
    seq: int
    ts: float
    timer: asyncio.TimerHandle
    values: list[float] = field(default_factory=list)


class Device:
    """A device's connection to the service: `async with Device(url, key, device_id, device_model_id) as device:`.

    It connects by itself, keeps the samples that it could not send, continues after a reconnect where the service says,
    sends again the data that a gateway lost, and waits when the service is behind. If its clock is set so far ahead
    that the service refuses its times, it continues in another session. Leaving the block without an error ends the
    session.
    """

    def __init__(
        self,
        url: str,
        key: str,
        device_id: str,
        device_model_id: str,
        *,
        buffer_bytes: float = 8 * 2**20,
        when_full: Literal["drop_oldest", "wait"] = "drop_oldest",
        batch_ms: float = 100,
        connect_within_ms: float = 10_000,
        backoff: Backoff = Backoff(),
        on_ready: Callable[[ReadyMessage], None] | None = None,
        on_notice: Callable[[NoticeMessage], None] | None = None,
        on_refused: Callable[[ErrorMessage], None] | None = None,
        on_status: Callable[[Status], None] | None = None,
    ) -> None:
        """Checks the options; raises ValueError for one that is malformed.

        `when_full`: `drop_oldest` suits a live sensor, whose `push` never waits; `wait` suits stored data: `push` waits
        while more than half of `buffer_bytes` is not sent. Pushes of less than `batch_ms` of data are sent together.
        What a callback raises stops the device. Without `on_notice` and `on_refused` both are logged as warnings.
        """
        if not re.fullmatch(r"[A-Za-z0-9_.:-]{1,128}", device_id) or device_id in (".", ".."):
            raise ValueError(f"device_id must be 1 to 128 of the characters A-Z a-z 0-9 . _ : -; it is {device_id!r}")
        if not device_model_id or not isinstance(device_model_id, str):
            raise ValueError(f"device_model_id must be the id of a device model; it is {device_model_id!r}")
        if when_full not in ("drop_oldest", "wait"):
            raise ValueError(f"when_full must be drop_oldest or wait; it is {when_full!r}")
        check_at_least(0, buffer_bytes=buffer_bytes, batch_ms=batch_ms, connect_within_ms=connect_within_ms)
        self.summary = DeviceSummary()
        """What became of the samples so far."""
        self._link = Link(url, key, "ingest", ping_s=_PING_S, queue=16, backoff=backoff, on_status=on_status)
        self._names = {"device_id": device_id, "device_model_id": device_model_id}
        self._waits = when_full == "wait"
        self._most_unsent = buffer_bytes / 2
        self._limit = buffer_bytes
        self._batch_ms = batch_ms
        self._connect_within_s = connect_within_ms / 1000
        self._on_ready = on_ready
        self._on_notice = on_notice or self._log_notice
        self._on_refused = on_refused or self._log_refused
        self._outbox = Outbox(buffer_bytes)
        self._early: deque[tuple[int | str, float, list[float]]] = deque()
        self._early_bytes = 0
        self._batches: dict[int, _Batch] = {}
        self._no_readings: dict[str, NoticeMessage] = {}
        self._ready: ReadyMessage | None = None
        self._had_time = _now_ms() > EARLIEST_MS
        self._attempt_clock = self._session_clock = 0.0
        self._task: asyncio.Task[None] | None = None
        self._failure: Exception | None = None
        self._closed = self._ending = self._end_sent = self._ended = self._renewing = False
        self._news = asyncio.Event()
        self._changed = asyncio.Condition()

    async def __aenter__(self) -> Self:
        self._task = asyncio.create_task(self._run())
        return self

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        if kind is None and not self._closed:
            await self.end()
        else:
            await self.close()

    @property
    def status(self) -> Status:
        """The state of the connection."""
        return self._link.status

    @property
    def no_readings(self) -> Sequence[NoticeMessage]:
        """The newest notice `no_reading` of each type of insight that has no trusted reading now, with the reason."""
        return list(self._no_readings.values())

    @property
    def backlog_bytes(self) -> int:
        """Bytes that wait to be sent."""
        return self._outbox.unsent_bytes + self._early_bytes

    async def ready(self) -> ReadyMessage:
        """Returns the newest `ready` message of the service, which has the channels; waits for the first.

        Raises UnavailableError if it does not arrive within `connect_within_ms` (the device continues to try), and the
        error that stopped the device.
        """
        try:
            async with asyncio.timeout(self._connect_within_s):
                await self._until(lambda: self._ready is not None)
        except TimeoutError:
            raise UnavailableError(f"no connection in time: {self.status.error or 'no answer'}") from self.status.error
        return cast(ReadyMessage, self._ready)

    async def push(self, channel: int | str, ts: float | None, samples: Iterable[float | None]) -> None:
        """Sends samples, numbered after the last ones of the channel.

        `channel` is the index in the device model, or the modality if only one channel has it. `ts` is the device's
        time of the first instant in ms since the epoch; None if the device has no clock. `samples` are whole instants,
        interleaved; None and NaN are missing values.

        Raises TypeError for bytes and values that are no numbers; ValueError for a channel that does not exist,
        incomplete instants, and times in seconds, in microseconds or since the device's start; the error that stopped
        the device. The channels are known once the device is `ready()`: a wrong push before that stops the device then.
        """
        self._check_open()
        values = values_of(samples)
        stamp = math.nan if ts is None else self._checked_time(ts)
        if not re.fullmatch(r"[a-z0-9_]{1,64}|\d+", str(channel)):
            raise ValueError(f"channel must be an index in the device model, or a modality; it is {channel!r}")
        if self._ready:
            self._accept(channel, stamp, values)
        else:
            self._push_early(channel, stamp, values)
        self._news.set()
        if self._waits:
            await self._until(lambda: self.backlog_bytes <= self._most_unsent)
        else:
            await asyncio.sleep(0)

    def skip(self, channel: int | str, instants: int) -> None:
        """Counts instants as lost by the device. Raises ValueError for a channel that does not exist."""
        self._check_open()
        found = self._channel(channel)
        self._flush(found)
        found.next = self._checked_end(found, instants)

    async def end(self) -> DeviceSummary:
        """Sends the remaining samples and ends the session.

        Returns when the service has stored and published all its insights; without a service, it waits for one. Raises
        ClosedError if the service refused the device.
        """
        if self._task is None:
            raise RuntimeError("use the device in `async with Device(…) as device:`")
        self._ending = True
        self._flush_all()
        self._news.set()
        await asyncio.wait({self._task})
        if self._failure:
            raise self._failure
        return replace(self.summary)

    async def close(self) -> None:
        """Closes at once; samples not sent are lost, and the session stays open for the service's grace period."""
        self._closed = True
        if self._task and not self._task.done():
            self._failure = ClosedError(1000, "closed by the device")
            self._task.cancel()
            await asyncio.wait({self._task})

    def _check_open(self) -> None:
        if self._failure:
            raise self._failure
        if self._task is None or self._ending:
            raise RuntimeError(
                "the device is not open: use `async with Device(…) as device:`; after end() make a new Device"
            )

    def _checked_time(self, ts: float) -> float:
        if not isinstance(ts, Real):
            raise TypeError(f"ts must be a number of ms since the epoch, or None without a clock; it is {ts!r}")
        if math.isnan(ts):
            return ts
        if _now_ms() > SECONDS_UNTIL or math.isinf(ts):
            check_ms("ts", ts)
        if ts < EARLIEST_MS and self._had_time:
            raise ValueError(f"ts must be ms since the epoch, not since the device's start; it is {ts!r}")
        return ts

    async def _until(self, condition: Callable[[], bool]) -> None:
        """Waits until the condition holds; raises the error that stopped the device."""
        async with self._changed:
            await self._changed.wait_for(lambda: condition() or self._failure is not None)
        if self._failure and not condition():
            raise self._failure

    async def _wake(self) -> None:
        async with self._changed:
            self._changed.notify_all()

    # Samples on their way to the outbox.

    def _push_early(self, channel: int | str, ts: float, values: list[float]) -> None:
        """Keeps samples until the service has announced the channels."""
        self._early.append((channel, ts, values))
        self._early_bytes += 8 * len(values)
        while self._early_bytes > self._limit and len(self._early) > 1:
            _, _, oldest = self._early.popleft()
            self._early_bytes -= 8 * len(oldest)
            self._drop(len(oldest))

    def _send_early(self) -> None:
        """Leaves out what was stamped before the clock was set, whose time nobody knows."""
        while self._early:
            channel, ts, values = self._early[0]
            if ts < EARLIEST_MS < _now_ms():
                self._drop(len(values))
            else:
                self._accept(channel, ts, values)
            self._early.popleft()
            self._early_bytes -= 8 * len(values)
        if self._ending:
            self._flush_all()

    def _accept(self, name: int | str, ts: float, values: list[float]) -> None:
        """Numbers samples; they may wait for more."""
        channel = self._channel(name)
        instants, rest = divmod(len(values), channel.width)
        if rest or not instants:
            raise ValueError(f"samples must be whole instants of {channel.width} values; they are {len(values)} values")
        end = self._checked_end(channel, instants)
        batch = self._batches.get(channel.index)
        if batch:
            expected = batch.ts + channel.length_ms(batch.seq, channel.next)
            if math.isnan(ts) != math.isnan(batch.ts) or abs(ts - expected) > _STAMP_TOLERANCE_MS:
                self._flush(channel)
                batch = None
        if batch is None:
            timer = asyncio.get_running_loop().call_later(self._batch_ms / 1000, self._flush, channel)
            batch = self._batches[channel.index] = _Batch(channel.next, ts, timer)
        batch.values += values
        channel.next = end
        if channel.length_ms(batch.seq, end) >= self._batch_ms:
            self._flush(channel)

    def _flush(self, channel: Channel) -> None:
        batch = self._batches.pop(channel.index, None)
        if batch and self._ready:
            batch.timer.cancel()
            limit = self._ready["limits"]["max_frame_bytes"]
            self._drop(self._outbox.add(channel, batch.seq, batch.ts, batch.values, limit))
            self._news.set()

    def _flush_all(self) -> None:
        for channel in self._outbox.channels:
            self._flush(channel)

    def _drop(self, values: int) -> None:
        if values:
            if self.summary.samples_dropped == 0:
                _LOG.warning("%s drops samples: see samples_dropped", self._names["device_id"])
            self.summary.samples_dropped += values

    def _channel(self, name: int | str) -> Channel:
        found = [each for each in self._outbox.channels if name in (each.index, each.modality)]
        if len(found) != 1:
            names = ", ".join(f"{each.index} ({each.modality})" for each in self._outbox.channels)
            raise ValueError(f"channel must be one of {names or 'those that ready() gives'}; it is {name!r}")
        return found[0]

    def _checked_end(self, channel: Channel, instants: int) -> int:
        end = channel.next + instants
        if not isinstance(instants, int) or instants < 0 or end > 2**32:
            raise ValueError(f"instants must be a whole number, at most 2^32 in a session; it is {instants!r}")
        return end

    # The connection.

    async def _run(self) -> None:
        try:
            while not self._ended:
                await self._serve(await self._link.open(self._query))
        except Exception as error:
            self._failure = error
        finally:
            self._flush_all()
            if not self._ended:
                self._drop(self._outbox.unacknowledged + sum(len(values) for _, _, values in self._early))
            with contextlib.suppress(Exception):  # What `on_status` raises; it has no one left to stop.
                self._link.tell("closed", self._failure)
            await self._wake()

    def _query(self) -> dict[str, object]:
        self._attempt_clock = _clock_offset()
        return {**self._names, "clock": round(_now_ms())}

    async def _serve(self, socket: ClientConnection) -> None:
        """Runs one connection until it ends. Raises ClosedError if the service refused it."""
        sending: asyncio.Task[None] | None = None
        self._end_sent = self._renewing = False
        try:
            while True:
                message = fields_of(await socket.recv())
                if message.get("type") == "ready" and sending is None:
                    try:
                        self._resume(cast(ReadyMessage, message))
                    except (KeyError, TypeError, AttributeError):
                        self._link.failed(UnavailableError("something other than the service answers: check url"))
                        return
                    self._start(cast(ReadyMessage, message))
                    sending = asyncio.create_task(self._send(socket, message["limits"]["max_unacked_ms"]))
                await self._receive(message, socket)
        except ConnectionClosed as closed:
            if not self._ended and not self._renewing:
                self._link.lost(closed)
        finally:
            if sending:
                await _cancelled(sending)
            await socket.close()

    async def _receive(self, message: dict[str, Any], socket: ClientConnection) -> None:
        match message.get("type"):
            case "ack":
                self._outbox.acknowledge(message.get("next_seq") or {})
            case "pong":
                self._outbox.settle()
            case "error":
                self.summary.frames_refused += 1
                self._on_refused(cast(ErrorMessage, message))
                if message.get("code") == "in_future" and self._clock_was_set() and not self._renewing:
                    self._renewing = True
                    await socket.send(_END)
            case "notice":
                self._notice(cast(NoticeMessage, message))
            case "ended":
                self._ended = not self._renewing
        self._news.set()

    def _resume(self, ready: ReadyMessage) -> None:
        """Takes over the channels of a connection, and where they continue."""
        same, replay_ms = self.summary.session_id == ready["session_id"], ready["replay_ms"]
        known = {each.index: each for each in self._outbox.channels}
        channels = []
        for new in ready["channels"]:
            index, modality, rate_hz, width = new["index"], new["modality"], new["sample_rate_hz"], new["num_channels"]
            channel = known.get(index) or Channel(index, modality, rate_hz, width, next=new["next_seq"])
            channel.modality, channel.rate_hz, channel.width = modality, rate_hz, width
            if same and replay_ms == 0:
                channel.acked = new["next_seq"]
            channels.append(channel)
        self._outbox.channels = channels
        self._outbox.resume(replay_ms if same else 0)
        if not same:
            self._session_clock = math.nan if ready["resumed"] else self._attempt_clock

    def _start(self, ready: ReadyMessage) -> None:
        """Notes that a connection is ready, and takes the samples that were pushed before the first one."""
        if self._ready:
            self.summary.reconnects += 1
        self._ready = ready
        self.summary.session_id = ready["session_id"]
        self._no_readings.clear()  # The service sends them again.
        self._send_early()
        self._link.tell("live")
        if self._on_ready:
            self._on_ready(ready)

    async def _send(self, socket: ClientConnection, most_unacked_ms: float) -> None:
        """Sends what may be sent, then the end, until it is cancelled or the connection is lost."""
        with contextlib.suppress(ConnectionClosed):
            while not self._renewing:
                self._news.clear()
                while self._outbox.unacked_ms < most_unacked_ms and (frame := self._outbox.take()):
                    await socket.send(frame)
                    self.summary.frames_sent += 1
                await self._wake()
                if self._outbox.unsent_bytes:
                    # The answer settles what the service refused, which is never acknowledged.
                    if self._outbox.ask():
                        await socket.send(_PING)
                elif self._ending and not self._batches and not self._end_sent:
                    self._end_sent = True
                    await socket.send(_END)
                await self._news.wait()

    def _notice(self, notice: NoticeMessage) -> None:
        insight = notice.get("insight")
        if notice.get("code") == "no_reading" and insight:
            if notice.get("over"):
                self._no_readings.pop(insight, None)
            else:
                self._no_readings[insight] = notice
        self._on_notice(notice)

    def _clock_was_set(self) -> bool:
        """Whether the clock was set since the session was opened, as far as this is known."""
        return not abs(_clock_offset() - self._session_clock) <= _CLOCK_SET_MS

    def _log_notice(self, notice: NoticeMessage) -> None:
        over = " is over" if notice.get("over") else ""
        _LOG.warning("%s: %s%s: %s", self._names["device_id"], notice.get("code"), over, notice.get("detail"))

    def _log_refused(self, refused: ErrorMessage) -> None:
        code, detail = refused.get("code"), refused.get("detail")
        _LOG.warning("%s: the service refused a frame: %s: %s", self._names["device_id"], code, detail)


def _now_ms() -> float:
    return 1000 * time.time()


def _clock_offset() -> float:
    """Returns the clock less a stopwatch, ms."""
    return 1000 * (time.time() - time.monotonic())


async def _cancelled(task: asyncio.Task[None]) -> None:
    task.cancel()
    await asyncio.wait({task})
