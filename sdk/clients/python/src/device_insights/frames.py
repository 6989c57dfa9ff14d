"""Binary frames of the ingest protocol, version 1."""

import math
import struct
from collections.abc import Sequence

HEADER_BYTES = 16
_VERSION = 1
_INT24 = 2
_INT32 = 3
_FLOAT32 = 4
_FORMATS = {1: "h", _INT32: "i", _FLOAT32: "f"}
_FLOAT32_EXACT = 2**24


def encode_frame(channel: int, seq: int, ts: float, samples: Sequence[float]) -> bytes:
    """Encodes a frame with the smallest encoding that loses nothing.

    That is int16, int24 or int32 for whole numbers and float32 for others (relative error at most 2^-24). Exception:
    fractional values beyond 2^24, without a missing one, are sent as rounded int32, which is then more exact.

    `channel` is the index in the device model, `seq` the number of the first instant, `ts` its time in ms since the
    epoch (NaN without a clock), and `samples` are interleaved, NaN for a missing value. Raises ValueError for what no
    frame can have.
    """
    if not 0 <= channel <= 255 or not 0 <= seq < 2**32 or math.isinf(ts) or not samples:
        raise ValueError(f"no frame can have the channel {channel}, seq {seq}, ts {ts} and {len(samples)} samples")
    encoding = _choose_encoding(samples)
    header = struct.pack("<BBBBId", _VERSION, channel, encoding, 0, seq, ts)
    if encoding == _FLOAT32:
        return header + struct.pack(f"<{len(samples)}f", *samples)
    whole = [math.floor(value + 0.5) for value in samples]
    if encoding == _INT24:
        return header + b"".join(value.to_bytes(3, "little", signed=True) for value in whole)
    return header + struct.pack(f"<{len(whole)}{_FORMATS[encoding]}", *whole)


def _choose_encoding(samples: Sequence[float]) -> int:
    if any(math.isnan(value) for value in samples):
        return _FLOAT32
    most = max(max(samples), -1 - min(samples))
    fitting = next((encoding for encoding in (1, _INT24, _INT32) if most + 0.5 < 2 ** (8 * encoding + 7)), _FLOAT32)
    if all(value.is_integer() for value in samples):
        return fitting
    return _INT32 if fitting == _INT32 and most > _FLOAT32_EXACT else _FLOAT32
