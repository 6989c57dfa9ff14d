"""Checks of what callers give."""

import json
import math
import re
from collections.abc import Iterable
from datetime import UTC, datetime, timedelta
from numbers import Real
from typing import Any

Instant = datetime | float | str
"""A datetime with a time zone, ms since the epoch, or an RFC 3339 text with an offset."""

SECONDS_FROM = 946_684_800
"""The years 2000 to 2099 in seconds since the epoch; in ms they are days of January and February 1970."""
SECONDS_UNTIL = 4_100_000_000
EARLIEST_MS = 1000 * SECONDS_FROM
"""The year 2000, ms: the service refuses times of a device before it."""
LATEST_MS = 253_402_300_800_000
"""The year 10000, ms: it is the year 1978 in microseconds."""
FLOAT32_MAX = 3.4028234663852886e38
"""The largest float32."""
_EPOCH = datetime(1970, 1, 1, tzinfo=UTC)
_ADDRESS = re.compile(r"(http|ws)s?://([^\s/\\:@?#\[\]]+|\[[\da-f:.]+\])(:\d{1,5})?(/[^\s\\@?#]*)?", re.IGNORECASE)


def service_url(url: str) -> str:
    """Returns the service's address with http or https, without a slash at its end.

    Raises ValueError for what is no address, or has `/v1`, a query or a password.
    """
    address = url.strip().rstrip("/") if isinstance(url, str) else ""
    if not _ADDRESS.fullmatch(address) or address.endswith("/v1"):
        raise ValueError("url must be the service's address, such as https://insights.example, without /v1 or a query")
    return re.sub(r"^ws", "http", address, flags=re.IGNORECASE)


def bearer(key: str) -> dict[str, str]:
    """Returns the header with the key. Raises ValueError for what is no key; the message does not contain it."""
    if not isinstance(key, str) or not re.fullmatch(r"[\x21-\x7e]+", key):
        raise ValueError("key must be an API key of the service, without spaces or line ends")
    return {"Authorization": f"Bearer {key}"}


def check_ms(name: str, ms: float) -> float:
    """Returns a time in ms. Raises ValueError for one in seconds, microseconds or nanoseconds since the epoch."""
    if not abs(ms) < LATEST_MS or SECONDS_FROM < ms < SECONDS_UNTIL:
        raise ValueError(f"{name} must be ms since the epoch, such as 1000 * time.time(); it is {ms!r}")
    return ms


def instant_ms(name: str, instant: Instant) -> float:
    """Returns an instant in ms since the epoch. Raises ValueError for one without a time zone or in other units."""
    if isinstance(instant, str):
        instant = datetime.fromisoformat(instant)
    if not isinstance(instant, datetime):
        return check_ms(name, instant)
    if instant.tzinfo is None:
        raise ValueError(f"{name} must have a time zone, such as datetime.now(UTC); it is {instant!r}")
    return (instant - _EPOCH) / timedelta(milliseconds=1)


def instant_text(name: str, instant: Instant) -> str:
    """Returns an instant as the service reads it. Raises ValueError as `instant_ms`."""
    return (_EPOCH + timedelta(milliseconds=instant_ms(name, instant))).isoformat()


def check_at_least(least: float, **values: float) -> None:
    """Raises ValueError for a value that is not a number from `least` on."""
    for name, value in values.items():
        if not isinstance(value, Real) or not value >= least:
            raise ValueError(f"{name} must be a number of at least {least}; it is {value!r}")


def values_of(samples: Iterable[float | None]) -> list[float]:
    """Returns samples as floats; NaN is a missing one.

    Raises TypeError for bytes, text and values that are no numbers, ValueError for infinite values.
    """
    if isinstance(samples, str | bytes | bytearray) or getattr(samples, "itemsize", 0) == 1:
        raise TypeError("samples must be numbers, not bytes: decode them, such as with array.array('h', data)")
    values: list[float] = []
    for value in samples:
        if value is not None and (not isinstance(value, Real) or isinstance(value, bool)):
            raise TypeError(f"a sample must be a number or None; it is {value!r}")
        if value is not None and abs(value) > FLOAT32_MAX:
            raise ValueError(f"a sample must be within float32, not infinite; it is {value!r:.40}")
        values.append(math.nan if value is None else float(value))
    return values


def fields_of(text: str | bytes) -> dict[str, Any]:
    """Returns the fields of a JSON object; none if the text is something else."""
    try:
        value = json.loads(text)
    except ValueError:
        return {}
    return value if isinstance(value, dict) else {}
