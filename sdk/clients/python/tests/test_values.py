"""Values in, values out: no service is needed."""

import array
import asyncio
import json
import math
import os
import time
import unittest
from datetime import UTC, datetime
from typing import Any

from device_insights import Backoff, ClosedError, Device, Rest, UnavailableError, encode_frame, subscribe

NOWHERE = "http://127.0.0.1:1"
KEY = "svc_0123456789abcdefghijABCDEFGHIJ"


def device(**options: Any) -> Device:
    return Device(NOWHERE, KEY, "band-1", "model-1", **options)


class Frames(unittest.TestCase):
    def test_equal_the_vectors_of_all_encoders(self) -> None:
        with open(os.environ["VECTORS"], encoding="utf8") as file:
            vectors = json.load(file)
        self.assertEqual([vector["encoding"] for vector in vectors], [1, 2, 3, 4])
        for vector in vectors:
            samples = [math.nan if value is None else value for value in vector["samples"]]
            ts = math.nan if vector["ts"] is None else vector["ts"]
            frame = encode_frame(vector["channel"], vector["seq"], ts, [float(value) for value in samples])
            self.assertEqual(frame.hex(), vector["hex"])

    def test_use_the_smallest_encoding_that_loses_nothing(self) -> None:
        cases = [
            ([32767.0], 1),
            ([32768.0], 2),
            ([-8388609.0], 3),
            ([2.0**31], 4),
            ([0.5], 4),
            ([2.0**24 + 0.5], 3),
            ([2.0**24 + 0.5, math.nan], 4),
        ]
        self.assertEqual([encode_frame(0, 0, 0, samples)[2] for samples, _ in cases], [each for _, each in cases])


class Options(unittest.TestCase):
    def test_that_are_malformed_are_refused_without_showing_the_key(self) -> None:
        wrong = [("ftp://host", KEY), ("http://host/v1", KEY), ("http://user:pass@host", KEY), (NOWHERE, f"{KEY}\n")]
        for url, key in wrong:
            with self.subTest(url=url), self.assertRaises(ValueError) as raised:
                Rest(url, key)
            self.assertNotIn(KEY, str(raised.exception))
        malformed: list[dict[str, Any]] = [
            {"buffer_bytes": -1},
            {"batch_ms": math.nan},
            {"when_full": "drop"},
            {"backoff": Backoff(-1)},
        ]
        for options in malformed:
            with self.subTest(options=options), self.assertRaises(ValueError):
                device(**options)
        with self.assertRaises(ValueError):
            Device(NOWHERE, KEY, "band 1", "model-1")

    def test_of_a_subscription_that_would_never_deliver_what_they_ask_for_are_refused(self) -> None:
        for options in [{"types": ["pulse"]}, {"quality": "good"}, {"buffer": 0}, {"since": 1_763_600_000}]:
            with self.subTest(options=options), self.assertRaises(ValueError):
                subscribe(NOWHERE, KEY, **options)  # type: ignore[arg-type]
        with self.assertRaises(TypeError):
            subscribe(NOWHERE, KEY, types="hr")
        with self.assertRaises(ValueError):
            subscribe(NOWHERE, KEY, since=datetime(2026, 1, 1))


class Push(unittest.IsolatedAsyncioTestCase):
    async def asyncSetUp(self) -> None:
        self.device = device()
        await self.device.__aenter__()

    async def asyncTearDown(self) -> None:
        await self.device.close()

    async def refuses(self, kind: type[Exception], channel: Any, ts: Any, samples: Any) -> None:
        with self.subTest(channel=channel, ts=ts, samples=samples), self.assertRaises(kind):
            await self.device.push(channel, ts, samples)

    async def test_refuses_times_in_other_units_before_it_is_connected(self) -> None:
        for ms in [time.time(), 1e6 * time.time(), 1e9 * time.time(), 1000 * time.monotonic(), math.inf]:
            await self.refuses(ValueError, 0, ms, [1])
        for ts in ["now", datetime.now(UTC)]:
            await self.refuses(TypeError, 0, ts, [1])

    async def test_refuses_bytes_and_values_that_are_no_numbers(self) -> None:
        for samples in ["12", b"\x01\x02", bytearray(2), array.array("B", [1]), ["1"], [[1, 2]], [True]]:
            await self.refuses(TypeError, 0, None, samples)
        for value in [math.inf, 1e39, 10**400]:
            await self.refuses(ValueError, 0, None, [value])

    async def test_refuses_channels_that_no_model_can_have(self) -> None:
        for channel in [-1, 1.5, "PPG", ""]:
            await self.refuses(ValueError, channel, None, [1])

    async def test_takes_numbers_arrays_and_missing_values(self) -> None:
        await self.device.push("ppg", 1000 * time.time(), array.array("h", [1, 2]))
        await self.device.push(0, None, [1, 2.5, None, math.nan])
        self.assertEqual(self.device.backlog_bytes, 48)


class Offline(unittest.IsolatedAsyncioTestCase):
    async def test_a_device_keeps_the_newest_data_and_counts_what_it_drops(self) -> None:
        with self.assertLogs("device_insights", "WARNING"):
            async with asyncio.timeout(10):
                limited = device(buffer_bytes=800)
                with self.assertRaises(KeyError):
                    async with limited:
                        for n in range(30):
                            await limited.push(0, 1000 * time.time(), [n] * 10)
                        self.assertEqual((limited.summary.samples_dropped, limited.backlog_bytes), (200, 800))
                        raise KeyError
        self.assertEqual(limited.summary.samples_dropped, 300)
        with self.assertRaises(ClosedError):
            await limited.push(0, None, [1])

    async def test_ready_and_a_first_subscription_fail_in_time_and_say_why(self) -> None:
        async with device(connect_within_ms=50) as impatient:
            with self.assertRaisesRegex(UnavailableError, "cannot be reached at http://127.0.0.1:1"):
                await impatient.ready()
            self.assertIn(impatient.status.state, ("waiting", "connecting"))
            await impatient.close()
        with self.assertRaisesRegex(UnavailableError, "cannot be reached"):
            await anext(subscribe(NOWHERE, KEY, connect_within_ms=50))

    async def test_a_request_fails_after_its_retries(self) -> None:
        with self.assertRaisesRegex(ConnectionError, "GET http://127.0.0.1:1/v1/algos: the service cannot be reached"):
            await Rest(NOWHERE, KEY, backoff=Backoff(base_ms=1)).algos()


if __name__ == "__main__":
    unittest.main()
