"""The service that the suite runs against, and data for it."""

import asyncio
import json
import math
import os
import time
import urllib.request
from typing import Any

from device_insights import Backoff, Device, Rest
from device_insights.types import NewModalityChannel

URL = os.environ["URL"]
KEY = os.environ["KEY"]
BACKOFF = Backoff(base_ms=50, max_ms=500)
RATE_HZ = 50
MODALITY = "ppg_green"
_FRAME = 10


async def control(command: str, argument: str = "") -> Any:
    """Asks the test that started the service to do something with it."""
    request = urllib.request.Request(f"{os.environ['CONTROL']}/{command}", argument.encode())

    def ask() -> Any:
        with urllib.request.urlopen(request, timeout=60) as response:
            return json.load(response)

    return await asyncio.to_thread(ask)


async def make_model() -> str:
    channel: NewModalityChannel = {"modality": MODALITY, "sample_rate_hz": RATE_HZ, "bit_depth": 16, "num_channels": 1}
    model = await Rest(URL, KEY).create_device_model({"name": "band", "modality_channels": [channel]})
    return model["id"]


def pulse(instant: int) -> int:
    """Light of a pulse of 72 per minute with breaths."""
    phase = 2 * math.pi * 1.2 * instant / RATE_HZ
    breath = math.sin(2 * math.pi * 0.25 * instant / RATE_HZ)
    return round(20_000 - (800 + 80 * breath) * (math.sin(phase) + 0.4 * math.sin(2 * phase + 1)) + 60 * breath)


async def stream(device: Device, start_ms: float, begin_s: float, end_s: float, shift_ms: float = 0) -> None:
    """Pushes the data of a period."""
    for instant in range(round(begin_s * RATE_HZ), round(end_s * RATE_HZ), _FRAME):
        samples = [pulse(instant + n) for n in range(_FRAME)]
        await device.push(MODALITY, start_ms + shift_ms + 1000 * instant / RATE_HZ, samples)


def ago_ms(seconds: float) -> float:
    """A time of the past, ms since the epoch."""
    return 1000 * (time.time() - seconds)
