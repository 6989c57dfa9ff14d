"""A connection to one of the service's sockets that is opened again and again."""

import asyncio
import random
import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Literal
from urllib.parse import urlencode

from websockets.asyncio.client import ClientConnection, connect
from websockets.exceptions import ConnectionClosed, InvalidStatus, WebSocketException

from .checks import bearer, check_at_least, service_url
from .errors import ClosedError, UnavailableError, quote

State = Literal["connecting", "live", "repairing", "waiting", "closed"]
"""`repairing`: a subscription reads missed insights over REST; `waiting`: the next attempt is scheduled."""

LOST = 1006
"""The close code of a connection that ended without a close frame of the service."""
_FINAL = {1000, 1002, 1003, 1007, 1008, 1009, 1010}


def may_reconnect(code: int) -> bool:
    """Whether to reconnect after this close code: not if the same connection would end the same way."""
    return code not in _FINAL and not 4000 <= code <= 4999


def close_code(closed: ConnectionClosed) -> int:
    """Returns the code of the service's own close frame, or 1006 if there was none."""
    return LOST if closed.rcvd is None or closed.rcvd_then_sent is False else closed.rcvd.code


@dataclass(frozen=True)
class Backoff:
    """Waits between attempts: uniform between 0 and a bound that doubles with each failure (full jitter)."""

    base_ms: float = 500
    """Maximum first wait."""
    max_ms: float = 30_000
    """Maximum of all waits."""

    def wait_ms(self, failures: int) -> float:
        """Returns a wait after a number of failures since the last success."""
        return random.random() * min(self.max_ms, self.base_ms * 2.0 ** min(failures, 30))


@dataclass(frozen=True)
class Status:
    """The state of a connection with its cause."""

    state: State = "connecting"
    error: Exception | None = None
    """The error that ended the last connection or attempt; None while nothing is wrong."""
    next_try_at: float | None = None
    """Time at which the next attempt begins, ms since the epoch; None unless the state is `waiting`."""


class _Connect(connect):
    """Follows no redirect: REST does not follow one either, and it would send the key to another address."""

    def process_redirect(self, exc: Exception) -> Exception | str:
        return exc


class Link:
    """Opens the sockets of one device or subscription, with backoff, and tells their state."""

    def __init__(
        self,
        url: str,
        key: str,
        name: str,
        *,
        ping_s: float,
        queue: int,
        backoff: Backoff,
        on_status: Callable[[Status], None] | None,
    ) -> None:
        """Checks the address and the key; `name` is that of the socket, `queue` its number of unread messages."""
        check_at_least(0, base_ms=backoff.base_ms, max_ms=backoff.max_ms)
        self.status = Status()
        self._url = service_url(url)
        self._key = key
        self._headers = bearer(key)
        self._name = name
        self._ping_s = ping_s
        self._queue = queue
        self._backoff = backoff
        self._on_status = on_status
        self._failures = 0
        self._wait_ms = 0.0

    def tell(self, state: State, error: Exception | None = None, next_try_at: float | None = None) -> None:
        """Changes the state; `live` means that the service has confirmed the connection."""
        if state == "live":
            self._failures = 0
        if self.status.state != "closed" and self.status != Status(state, error, next_try_at):
            self.status = Status(state, error, next_try_at)
            if self._on_status:
                self._on_status(self.status)

    def failed(self, error: Exception) -> None:
        """Notes why a connection or an attempt failed; the next `open` begins with a wait."""
        self._wait_ms = self._backoff.wait_ms(self._failures)
        self._failures += 1
        self.tell("waiting", error, 1000 * time.time() + self._wait_ms)

    def lost(self, closed: ConnectionClosed) -> None:
        """Notes the end of a connection. Raises ClosedError if the service refused it."""
        code = close_code(closed)
        reason = quote(closed.rcvd.reason, self._key) if closed.rcvd else ""
        if not may_reconnect(code):
            raise ClosedError(code, reason)
        self.failed(UnavailableError(f"the connection was lost ({code}{reason and ': ' + reason})"))

    async def open(self, query: Callable[[], Mapping[str, object]]) -> ClientConnection:
        """Connects with the values of `query` at that time, as often as it takes."""
        while True:
            await asyncio.sleep(self._wait_ms / 1000)
            self._wait_ms = 0
            self.tell("connecting", self.status.error)
            url = f"{self._url.replace('http', 'ws', 1)}/stream/{self._name}?{urlencode(query())}"
            try:
                return await _Connect(
                    url,
                    additional_headers=self._headers,
                    compression=None,
                    ping_interval=self._ping_s,
                    ping_timeout=self._ping_s,
                    max_queue=self._queue,
                )
            except InvalidStatus as refused:
                status = refused.response.status_code
                why = "full, or a proxy before it has no WebSocket" if status == 503 else "not there: check url"
                self.failed(UnavailableError(f"the service is {why} (HTTP {status} at {self._url})"))
            except (OSError, WebSocketException) as error:
                why = quote(str(error) or type(error).__name__, self._key)
                self.failed(UnavailableError(f"the service cannot be reached at {self._url}: {why}"))
