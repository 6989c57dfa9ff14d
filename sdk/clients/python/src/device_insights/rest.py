"""The service's REST interface, over the standard library."""

import asyncio
import contextlib
import json
import re
import secrets
import urllib.request
from collections.abc import AsyncGenerator, AsyncIterator, Mapping
from email.message import Message
from http.client import HTTPException, IncompleteRead
from typing import Any, Literal, NamedTuple, cast
from urllib.parse import quote as quote_part
from urllib.parse import unquote, urlencode

from .checks import Instant, bearer, check_at_least, fields_of, instant_text, service_url
from .errors import ApiError, UnavailableError, is_passing_status, quote
from .link import Backoff
from .types import Algorithm, DeviceModel, DeviceModelChange, Health, Insight, NewDeviceModel, Session, Summary

Query = Mapping[str, str | int | None]
_LONGEST_WAIT_MS = 30_000
"""Maximum wait that the service may ask for before another attempt."""


class Rest:
    """Stored insights, sessions, device models and algorithms.

    Every method raises ApiError if the service refuses the request, and UnavailableError if there is no answer from it.
    A temporary failure is retried. Requests run in threads, so a cancelled one goes on in the background until it ends.
    """

    def __init__(
        self,
        url: str,
        key: str,
        *,
        timeout_ms: float = 30_000,
        max_response_bytes: int = 2**26,
        retries: int = 2,
        backoff: Backoff = Backoff(),
    ) -> None:
        """Checks the options; raises ValueError for one that is malformed.

        `timeout_ms` is the maximum time without a part of the answer. There are at most `retries` further attempts.
        """
        check_at_least(1, timeout_ms=timeout_ms, max_response_bytes=max_response_bytes)
        check_at_least(0, retries=retries)
        self._url = service_url(url)
        self._key = key
        self._headers = bearer(key)
        self._timeout_s = timeout_ms / 1000
        self._most_bytes = max_response_bytes
        self._retries = retries
        self._backoff = backoff

    async def insights(
        self,
        *,
        type: str | None = None,
        device_id: str | None = None,
        since: Instant | None = None,
        until: Instant | None = None,
        data_since: Instant | None = None,
        data_until: Instant | None = None,
        limit: int = 1000,
    ) -> AsyncGenerator[Insight]:
        """Iterates over stored insights across sessions.

        They come from `since` or `data_since` on, oldest first, or without them from the newest on. `since` and `until`
        select by the time of publication, `data_since` and `data_until` by the end of the data (`actual_end`). `limit`
        is the number of rows of a request, at most 1000. Raises ValueError for times in seconds or microseconds.
        """
        back = (since if data_since is None and data_until is None else data_since) is None
        times = _texts(since=since, until=until, data_since=data_since, data_until=data_until)
        async for page in self.pages("insights", {"type": type, "device_id": device_id, "limit": limit, **times}):
            for row in reversed(page) if back else page:
                yield cast(Insight, row)

    async def sessions(
        self,
        *,
        status: Literal["open", "closed"] | None = None,
        device_id: str | None = None,
        data_since: Instant | None = None,
        data_until: Instant | None = None,
        limit: int = 200,
    ) -> AsyncGenerator[Session]:
        """Iterates over sessions, newest first; `limit` is the number of rows of a request, at most 200."""
        times = _texts(data_since=data_since, data_until=data_until)
        async for page in self.pages("sessions", {"status": status, "device_id": device_id, "limit": limit, **times}):
            for row in page:
                yield cast(Session, row)

    async def session(self, session_id: str) -> Session:
        """Returns one session, with its `diagnostics`."""
        return cast(Session, await self.request("GET", f"sessions/{_part(session_id)}"))

    async def session_insights(self, session_id: str) -> list[Insight]:
        """Returns all stored insights of a session, in chronological order."""
        return cast(list[Insight], await self.request("GET", f"sessions/{_part(session_id)}/insights"))

    async def session_summary(self, session_id: str) -> list[Summary]:
        """Returns the summary of the insights of a session, one entry per type."""
        return cast(list[Summary], await self.request("GET", f"sessions/{_part(session_id)}/summary"))

    async def device_models(self) -> list[DeviceModel]:
        """Returns all device models of the account, oldest first."""
        return cast(list[DeviceModel], await self.request("GET", "device-models"))

    async def device_model(self, model_id: str) -> DeviceModel:
        """Returns one device model."""
        return cast(DeviceModel, await self.request("GET", f"device-models/{_part(model_id)}"))

    async def create_device_model(self, model: NewDeviceModel) -> DeviceModel:
        """Creates a device model: a kind of device, with its channels."""
        return cast(DeviceModel, await self.request("POST", "device-models", model))

    async def update_device_model(self, model_id: str, change: DeviceModelChange) -> DeviceModel:
        """Changes the given fields; channels are changed or added, never removed."""
        return cast(DeviceModel, await self.request("PUT", f"device-models/{_part(model_id)}", change))

    async def delete_device_model(self, model_id: str) -> None:
        """Deletes a device model that no device references."""
        await self.request("DELETE", f"device-models/{_part(model_id)}")

    async def algos(self) -> list[Algorithm]:
        """Returns the algorithms that the account is entitled to."""
        return cast(list[Algorithm], await self.request("GET", "algos"))

    async def health(self) -> Health:
        """Returns the health of the ingest and subscribe sockets."""
        return cast(Health, await self.request("GET", "stream/health"))

    async def request(self, method: str, path: str, body: Mapping[str, Any] | None = None) -> Any:
        """Returns the JSON of the answer of `/v1/{path}`, for the operations that have no method here."""
        return (await self._ask(method, path, body))[0]

    async def pages(self, path: str, query: Query) -> AsyncIterator[list[dict[str, Any]]]:
        """Iterates over the pages of a list."""
        seen: set[str] = set()
        cursor: str | None = None
        while True:
            texts = {name: value for name, value in {**query, "cursor": cursor}.items() if value is not None}
            rows, cursor = await self._ask("GET", f"{path}?{urlencode(texts)}")
            yield rows
            if cursor is None:
                return
            if cursor in seen:
                raise UnavailableError("the pages of the list repeat: check url")
            seen.add(cursor)

    async def _ask(self, method: str, path: str, body: Mapping[str, Any] | None = None) -> tuple[Any, str | None]:
        """Returns the JSON of an answer, and the cursor of another page. Retries what may pass."""
        headers = dict(self._headers)
        if method == "POST":
            headers["Idempotency-Key"] = secrets.token_hex(16)
        if body is not None:
            headers["Content-Type"] = "application/json"
        data = None if body is None else json.dumps(body).encode()
        asked = urllib.request.Request(f"{self._url}/v1/{path}", data, headers, method=method)
        form = list if method == "GET" and path.partition("?")[0].count("/") % 2 == 0 else dict
        attempt = 0
        while True:
            try:
                answer = await asyncio.to_thread(self._attempt, asked)
            except UnavailableError as error:
                if attempt >= self._retries or isinstance(error, _TooLongError):
                    raise
                wait_ms = 0.0
            else:
                if 200 <= answer.status < 300:
                    return self._json(answer, form, asked), _linked_cursor(answer.headers)
                after = answer.headers.get("retry-after")
                wait_ms = 1000 * float(after) if after and after.isdecimal() else 0.0
                may_pass = after is not None or is_passing_status(answer.status)
                if attempt >= self._retries or wait_ms > _LONGEST_WAIT_MS or not may_pass:
                    raise self._refusal(answer, asked)
            await asyncio.sleep((wait_ms + self._backoff.wait_ms(attempt)) / 1000)
            attempt += 1

    def _attempt(self, asked: urllib.request.Request) -> "_Answer":
        """Blocks for one attempt. Raises UnavailableError without an answer that is complete and short enough."""
        try:
            with _OPENER.open(asked, timeout=self._timeout_s) as response:
                text = response.read(self._most_bytes + 1)
                if len(text) > self._most_bytes:
                    raise _TooLongError(f"{_said(asked)}: the answer has more than {self._most_bytes} bytes")
                if response.length:
                    raise IncompleteRead(text, response.length)
                return _Answer(response.status, response.headers, text)
        except UnavailableError:
            raise
        except (OSError, HTTPException) as error:
            why = quote(str(error) or type(error).__name__, self._key)
            raise UnavailableError(f"{_said(asked)}: the service cannot be reached: {why}") from error

    def _json(self, answer: "_Answer", form: type, asked: urllib.request.Request) -> Any:
        if answer.status == 204:
            return None
        with contextlib.suppress(ValueError):
            if isinstance(data := json.loads(answer.text), form):
                return data
        raise UnavailableError(f"{_said(asked)}: the answer is not from the service, or not JSON: check url")

    def _refusal(self, answer: "_Answer", asked: urllib.request.Request) -> ApiError | UnavailableError:
        detail = fields_of(answer.text).get("detail")
        said = detail if isinstance(detail, str) else answer.text.decode(errors="replace")
        error = ApiError(answer.status, quote(said, self._key), answer.headers.get("x-request-id"))
        if isinstance(detail, str) or is_passing_status(answer.status):
            return error
        where = f" to {quote(answer.headers['location'], self._key)}" if "location" in answer.headers else ""
        why = f"the answer is not from the service (HTTP {answer.status}{where})"
        return UnavailableError(f"{_said(asked)}: {why}: check url, and for a proxy or a login page")


class _Answer(NamedTuple):
    status: int
    headers: Message
    text: bytes


class _TooLongError(UnavailableError):
    """Another attempt would be too long as well."""


class _AnyStatus(urllib.request.HTTPErrorProcessor):
    """Returns each answer as it is.

    A redirect is not followed: it would make a GET of a create, and send the key to another address.
    """

    def http_response(self, request: urllib.request.Request, response: Any) -> Any:
        return response

    https_response = http_response


_OPENER = urllib.request.build_opener(_AnyStatus)


def _said(asked: urllib.request.Request) -> str:
    return f"{asked.get_method()} {asked.full_url}"


def _texts(**times: Instant | None) -> dict[str, str]:
    return {name: instant_text(name, time) for name, time in times.items() if time is not None}


def _part(name: str) -> str:
    """Returns an id as a part of a path. Raises ValueError for what would change the address of the request."""
    if not isinstance(name, str) or name in ("", ".", ".."):
        raise ValueError(f"an id must be a text other than . and ..; it is {name!r}")
    return quote_part(name, safe="")


def _linked_cursor(headers: Message) -> str | None:
    found = re.search(r'[?&]cursor=([^&#>]*)[^>]*>\s*;\s*rel="?(?:next|prev)', headers.get("link") or "")
    return unquote(found[1]) if found else None
