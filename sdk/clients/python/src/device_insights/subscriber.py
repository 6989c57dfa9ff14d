"""The app side: live insights without gaps."""

import asyncio
import contextlib
import logging
import math
import time
from collections.abc import AsyncGenerator, AsyncIterator, Callable, Iterable, Mapping
from dataclasses import dataclass
from types import TracebackType
from typing import Any, Literal, Self, cast, get_args, get_type_hints

from websockets.asyncio.client import ClientConnection
from websockets.exceptions import ConnectionClosed

from .checks import LATEST_MS, Instant, check_at_least, fields_of, instant_ms, instant_text
from .errors import ApiError, UnavailableError, is_passing
from .link import Backoff, Link, Status, close_code
from .rest import Rest
from .types import InsightMessage, NoticeMessage

_LOG = logging.getLogger("device_insights")
_PING_S = 30
_REMEMBERED_MS = 3_600_000
"""Time for which the newest insight of each series is remembered, ms of `ts`: a repair never reads back further."""
_SETTLED_MS = 10_000
"""Insights that are older than the newest stored one by more than this are final.

One is readable at most 5 s after its `ts`, and the gateways' clocks agree within 1 s; the rest is a margin.
"""
_FIELDS: Mapping[str, type | tuple[type, ...]] = {
    "type": str,
    "value": (int, float),
    "unit": str,
    "ts": (int, float),
    "session_id": str,
    "device_id": str,
    "confidence": (int, float),
    "sqi_class": str,
}
_QUALITY = ("unfit", "acceptable", "excellent")
INSIGHT_TYPES = frozenset(get_args(get_type_hints(NoticeMessage)["insight"]))
"""The types of insights that this version knows; a subscription without `types` delivers later ones too."""
Quality = Literal["unfit", "acceptable", "excellent"]
Rows = list[dict[str, Any]]


@dataclass(frozen=True)
class Hole:
    """A period whose insights may be missing, ms since the epoch."""

    since: float
    until: float
    cause: Exception
    """The service's refusal, or that its clocks differ."""


def subscribe(
    url: str,
    key: str,
    *,
    since: Instant | None = None,
    devices: Iterable[str] | None = None,
    sessions: Iterable[str] | None = None,
    types: Iterable[str] | None = None,
    quality: Quality = "unfit",
    buffer: int = 10_000,
    connect_within_ms: float = 10_000,
    backoff: Backoff = Backoff(),
    on_hole: Callable[[Hole], None] | None = None,
    on_status: Callable[[Status], None] | None = None,
) -> "Subscription":
    """Subscribes to the live insights of a key: `async for insight in subscribe(url, key):`.

    With `since` the stored insights that were published from then on come first. Each filter defaults to all; `quality`
    is the minimum. At most `buffer` insights wait for a slow consumer; later ones are read over REST. `on_hole` is
    called with each period that could not be read after a lost connection; without it, it is logged as a warning.
    Raises ValueError for an option that is malformed.
    """
    check_at_least(1, buffer=buffer)
    check_at_least(0, connect_within_ms=connect_within_ms)
    if quality not in _QUALITY:
        raise ValueError(f"quality must be one of {', '.join(_QUALITY)}; it is {quality!r}")
    filters = {"device_id": devices, "session_id": sessions, "type": types}
    if any(isinstance(names, str) for names in filters.values()):
        raise TypeError("devices, sessions and types must be lists")
    wanted = {field: frozenset(names) for field, names in filters.items() if names is not None}
    if not wanted.get("type", frozenset()) <= INSIGHT_TYPES:
        raise ValueError(f"types must be of {', '.join(sorted(INSIGHT_TYPES))}; leave them out to get later ones too")

    def is_wanted(insight: InsightMessage) -> bool:
        fields = cast(Mapping[str, str], insight)
        chosen = all(fields[name] in names for name, names in wanted.items())
        return chosen and _rank(insight["sqi_class"]) >= _rank(quality)

    link = Link(url, key, "subscribe", ping_s=_PING_S, queue=buffer, backoff=backoff, on_status=on_status)
    query = {"api_key": key}  # This socket takes no header with a key.
    start = None if since is None else math.floor(instant_ms("since", since)) - 1
    rest = Rest(url, key, backoff=backoff)
    return Subscription(_Feed(link, query, rest, start, is_wanted, connect_within_ms / 1000, on_hole or _log_hole))


class Subscription(AsyncIterator[InsightMessage]):
    """A live subscription, as `subscribe` makes it.

    It begins with `async with`, with `subscribed()` or with the first insight that is awaited. Then it reconnects by
    itself and reads missed insights over REST, so that every insight published since is delivered exactly once, in
    order for each session and type. It ends normally after `close()`, and when the service closes normally. The
    iteration raises ClosedError if the service refuses the key, and UnavailableError without a first connection within
    `connect_within_ms`. A cancelled wait for an insight loses nothing. The end of the `async with` block closes the
    subscription, and so does that of the last reference to it.
    """

    def __init__(self, feed: "_Feed") -> None:
        self._feed = feed
        self._insights = feed.insights()  # Has no reference to this object, which can so be collected.
        self._pending: asyncio.Task[InsightMessage | None] | None = None
        self._turn = asyncio.Lock()

    async def __aenter__(self) -> Self:
        await self.subscribed()
        return self

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        await self.close()

    @property
    def status(self) -> Status:
        """The state of the connection."""
        return self._feed.link.status

    @property
    def reconnects(self) -> int:
        """Connections after the first that are live, after a repair."""
        return self._feed.reconnects

    @property
    def repaired(self) -> int:
        """Insights that were read over REST."""
        return self._feed.repaired

    async def subscribed(self) -> None:
        """Waits until the service has confirmed the subscription: every later insight is delivered.

        Raises ClosedError or UnavailableError as the iteration.
        """
        pending = self._advance()
        confirmed = asyncio.create_task(self._feed.confirmed.wait())
        try:
            await asyncio.wait({pending, confirmed}, return_when=asyncio.FIRST_COMPLETED)
        finally:
            confirmed.cancel()
        if pending.done() and (error := pending.exception()):
            raise error

    async def __anext__(self) -> InsightMessage:
        async with self._turn:
            pending = self._advance()
            await asyncio.wait({pending})  # If this is cancelled, the next call takes the insight.
            self._pending = None
        insight = None if pending.cancelled() else pending.result()
        if insight is None:
            raise StopAsyncIteration
        return insight

    async def close(self) -> None:
        """Ends the subscription."""
        if self._pending:
            self._pending.cancel()
            await asyncio.wait({self._pending})
            self._pending = None
        await self._insights.aclose()
        self._feed.link.tell("closed")

    def __del__(self) -> None:
        if self._pending and not self._pending.get_loop().is_closed():
            self._pending.cancel()

    def _advance(self) -> asyncio.Task[InsightMessage | None]:
        self._pending = self._pending or asyncio.create_task(_next(self._insights))
        return self._pending


async def _next(insights: AsyncGenerator[InsightMessage]) -> InsightMessage | None:
    return await anext(insights, None)


class _Again(Exception):
    """The present connection must be replaced, and what it missed read again."""


class _Feed:
    """The insights of a subscription, from the socket and from REST. It never refers to the subscription."""

    def __init__(
        self,
        link: Link,
        query: Mapping[str, str],
        rest: Rest,
        start: float | None,
        is_wanted: Callable[[InsightMessage], bool],
        connect_within_s: float,
        on_hole: Callable[[Hole], None],
    ) -> None:
        self.link = link
        self.confirmed = asyncio.Event()
        self.reconnects = 0
        self.repaired = 0
        self._query = query
        self._rest = rest
        self._is_wanted = is_wanted
        self._connect_within_s = connect_within_s
        self._on_hole = on_hole
        self._seen = Seen()
        self._from_store = start is not None
        self._start = start
        """Newest `ts` stored at the first `subscribed`, ms: newer ones belong to the subscription. None if unknown."""
        self._begun = (0.0, 0.0)
        """Time of the first `subscribed` by the clock and by a stopwatch, ms."""
        self._late = 0.0
        """The most by which the `ts` of a new insight was before the newest one that had arrived, ms."""
        self._oldest = math.inf
        """Oldest `ts` that arrived, ms."""

    async def insights(self) -> AsyncGenerator[InsightMessage]:
        """Iterates over the insights, each once."""
        starting: asyncio.Task[None] | None = None
        socket: ClientConnection | None = None
        try:
            socket = await self._first_socket()
            if self._from_store:
                self.link.tell("repairing")
            else:
                self.link.tell("live")
                starting = asyncio.create_task(self._learn_start())
            while True:
                try:
                    if self.link.status.state != "live":
                        async for insight in self._repair():
                            yield insight
                        self.link.tell("live")
                    while True:
                        new = self._new_insight(fields_of(await socket.recv()))
                        if new and self._is_wanted(new):
                            yield new
                except ConnectionClosed as closed:
                    if close_code(closed) == 1000:
                        self.link.tell("closed")
                        return
                    self.link.lost(closed)
                except _Again as again:
                    self.link.failed(again.__cause__ if isinstance(again.__cause__, Exception) else again)
                await socket.close()
                socket = await self._next_socket()
                self.link.tell("repairing")
        except Exception as error:
            self.link.tell("closed", error)
            raise
        finally:
            if starting:
                starting.cancel()
            if socket:
                await socket.close()

    async def _first_socket(self) -> ClientConnection:
        try:
            async with asyncio.timeout(self._connect_within_s):
                socket = await self._next_socket()
        except TimeoutError:
            error = self.link.status.error
            raise UnavailableError(f"no connection in time: {error or 'no answer'}") from error
        self._begun = (1000 * time.time(), 1000 * time.monotonic())
        self.confirmed.set()
        return socket

    async def _next_socket(self) -> ClientConnection:
        """Returns a socket whose subscription the service has confirmed. Raises ClosedError if it refuses it."""
        while True:
            socket = await self.link.open(lambda: self._query)
            try:
                while fields_of(await socket.recv()).get("status") != "subscribed":
                    pass
                return socket
            except ConnectionClosed as closed:
                self.link.lost(closed)
            except BaseException:
                await socket.close()
                raise

    def _new_insight(self, message: dict[str, Any]) -> InsightMessage | None:
        """Returns the insight of a message, if it is one and new."""
        if not _is_insight(message) or self._seen.has(message):
            return None
        known = self._lag()
        self._oldest = min(self._oldest, message["ts"])
        self._late = max(self._late, self._seen.newest - message["ts"])
        if self.reconnects > 0 and self._lag() > known + _SETTLED_MS:
            raise _Again("the service's clock was set back")  # So the last repair did not read back far enough.
        self._seen.add(message)
        return cast(InsightMessage, message)

    def _lag(self) -> float:
        """Returns the most by which a new insight was before the newest one or the start: clocks may differ."""
        return max(self._late, (self._start or 0) - self._oldest)

    async def _repair(self) -> AsyncGenerator[InsightMessage]:
        """Iterates over the missed insights. Raises _Again if this must be tried on another connection."""
        since = self._seen.newest - _SETTLED_MS
        try:
            since = await self._first_missed()
            async for rows in read_stored(self._rest, since):
                for row in rows:
                    if _is_insight(row) and self._seen.add(row):
                        self.repaired += 1
                        insight = cast(InsightMessage, {name: row[name] for name in _FIELDS})
                        if self._is_wanted(insight):
                            yield insight
            if self._lag() > _REMEMBERED_MS:
                self._tell_hole(-math.inf, UnavailableError(f"the service's clocks differ by {self._lag()} ms"))
        except (ApiError, UnavailableError) as error:
            if is_passing(error):
                raise _Again from error
            if self._from_store:
                raise
            self._tell_hole(since, error)
        if self._from_store:
            self._from_store = False
        else:
            self.reconnects += 1

    def _tell_hole(self, since: float, cause: Exception) -> None:
        until = 1000 * time.time()
        self._on_hole(Hole(max(since, until - self._elapsed()), until, cause))

    async def _first_missed(self) -> float:
        """Returns where a repair begins, ms of `ts`.

        That is shortly before the newest insight that arrived, or as much earlier as new insights were before it. If a
        gateway could not publish for a while and others could, it begins earlier: so it doubles its reach until that
        adds nothing that was missed.
        """
        newest = self._seen.newest
        start = math.floor(await self._find_start()) + 1
        lag = min(self._lag(), _REMEMBERED_MS)
        earliest = max(start - lag, newest - _REMEMBERED_MS)
        reach = lag + _SETTLED_MS
        while (since := newest - reach) > earliest:
            async for rows in read_period(self._rest, since - reach, since):
                if any(_is_insight(row) and not self._seen.has(row) for row in rows):
                    break
            else:
                return since
            reach *= 2
        return earliest

    async def _learn_start(self) -> None:
        with contextlib.suppress(ApiError, UnavailableError):  # A repair asks again, and reports a refusal.
            await self._find_start()

    async def _find_start(self) -> float:
        """Returns where the subscription starts, ms of `ts`: at the newest insight stored.

        If the first connection is already lost, insights published meanwhile are among those that are stored.
        """
        if self._start is None:
            newest = await newest_stored(self._rest)
            if self._start is None:
                live = self.link.status.state == "live"
                self._start = newest if live else max(0, newest - self._elapsed())
        return self._start

    def _elapsed(self) -> float:
        """Returns the time since the first `subscribed`, ms, or more: a stopwatch pauses while the machine sleeps."""
        return max(1000 * time.time() - self._begun[0], 1000 * time.monotonic() - self._begun[1])


class Seen:
    """The newest insight of each series (session and type) that was received."""

    def __init__(self) -> None:
        self.newest = -math.inf
        """Newest `ts` received, ms."""
        self._last: dict[tuple[str, str], float] = {}

    def has(self, insight: Mapping[str, Any]) -> bool:
        """Whether an insight was received, or is older than one received of its series."""
        return bool(insight["ts"] <= self._last.get(_series(insight), -1))

    def add(self, insight: Mapping[str, Any]) -> bool:
        """Takes an insight; False if it is known."""
        if self.has(insight):
            return False
        self._last.pop(_series(insight), None)
        self._last[_series(insight)] = insight["ts"]
        self.newest = max(self.newest, insight["ts"])
        while (oldest := next(iter(self._last))) and self._last[oldest] < self.newest - _REMEMBERED_MS:
            del self._last[oldest]
        return True


async def newest_stored(rest: Rest) -> float:
    """Returns the newest `ts` that is stored, ms; 0 if nothing is."""
    async for rows in rest.pages("insights", {"limit": 1}):
        return float(rows[0]["ts"]) if rows else 0
    return 0


async def read_stored(rest: Rest, since: float) -> AsyncGenerator[Rows]:
    """Iterates over the insights stored from `since` (ms) on, in order of `ts`.

    It is without a gap for each series, even while rows are being written: the part that is not final is read twice.
    """
    while (final := await newest_stored(rest) - _SETTLED_MS) - since > _SETTLED_MS:
        async for rows in read_period(rest, since, final):
            yield rows
        since = final
    yield await _read_twice(rest, since)


async def _read_twice(rest: Rest, since: float) -> Rows:
    """Returns the rows up to the newest of each series in a first reading.

    Every row that was written before that one is in the second reading, even if it became visible behind the first.
    """
    newest: dict[tuple[str, str], float] = {}
    async for rows in read_period(rest, since):
        newest.update((_series(row), row["ts"]) for row in rows)
    if not newest:
        return []
    return [row async for rows in read_period(rest, since) for row in rows if row["ts"] <= newest.get(_series(row), -1)]


async def read_period(rest: Rest, since: float, until: float | None = None) -> AsyncGenerator[Rows]:
    """Iterates over the rows stored in a period, page after page, in order of `ts`."""
    times = {"since": instant_text("since", since)}
    if until is not None:
        times["until"] = instant_text("until", until)
    async for rows in rest.pages("insights", {"limit": 1000, **times}):
        yield [row for row in rows if isinstance(row.get("ts"), int | float) and 0 <= row["ts"] < LATEST_MS]


def _is_insight(message: Mapping[str, Any]) -> bool:
    """Whether a message is an insight, of whatever type, with a possible time."""
    has_fields = all(isinstance(message.get(name), kind) for name, kind in _FIELDS.items())
    return has_fields and 0 <= message["ts"] < LATEST_MS


def _series(insight: Mapping[str, Any]) -> tuple[str, str]:
    return insight["session_id"], insight["type"]


def _rank(quality: str) -> int:
    return _QUALITY.index(quality) if quality in _QUALITY else 0


def _log_hole(hole: Hole) -> None:
    _LOG.warning("insights from %d to %d may be missing: %s", hole.since, hole.until, hole.cause)
