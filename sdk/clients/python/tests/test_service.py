"""Against a running service: a proxy before a gateway and a fan-out node, all of which are real."""

import asyncio
import itertools
import os
import time
import unittest
from collections.abc import Iterable, Mapping
from typing import Any
from unittest import mock

from device_insights import ApiError, ClosedError, Device, Hole, Rest, UnavailableError, subscribe
from device_insights.types import ErrorMessage, InsightMessage, NoticeMessage
from service import BACKOFF, KEY, MODALITY, RATE_HZ, URL, ago_ms, control, make_model, pulse, stream


def identities(insights: Iterable[Mapping[str, Any]]) -> list[tuple[str, str, int]]:
    return sorted((insight["session_id"], insight["type"], insight["ts"]) for insight in insights)


class Service(unittest.IsolatedAsyncioTestCase):
    async def asyncSetUp(self) -> None:
        self.rest = Rest(URL, KEY, backoff=BACKOFF, retries=8)
        self.model = await make_model()

    def device(self, device_id: str, **options: Any) -> Device:
        quiet = {"on_notice": lambda notice: None, "on_refused": lambda refused: None}
        return Device(URL, options.pop("key", KEY), device_id, self.model, backoff=BACKOFF, **{**quiet, **options})

    async def test_a_device_streams_until_the_service_has_stored_all_readings(self) -> None:
        async with self.device("plain") as device:
            ready = await device.ready()
            self.assertEqual(ready["channels"][0]["modality"], MODALITY)
            with self.assertRaisesRegex(ValueError, r"channel must be one of 0 \(ppg_green\); it is 1"):
                await device.push(1, None, [1])
            with self.assertRaisesRegex(ValueError, "whole instants"):
                await device.push(0, None, [])
            await stream(device, ago_ms(30), 0, 30)
            summary = await device.end()
        self.assertEqual((summary.samples_dropped, summary.frames_refused, summary.reconnects), (0, 0, 0))
        rates = [each for each in await self.rest.session_insights(summary.session_id) if each["type"] == "hr"]
        self.assertGreater(len(rates), 15)
        for rate in rates:
            self.assertAlmostEqual(rate["value"], 72, delta=3)
        with self.assertRaisesRegex(RuntimeError, "new Device"):
            await device.push(0, None, [1])

    async def test_a_device_learns_why_there_is_no_reading(self) -> None:
        notices: list[NoticeMessage] = []
        async with self.device("dark", on_notice=notices.append) as device:
            await device.push(MODALITY, ago_ms(30), [5] * 30 * RATE_HZ)
            await device.end()
        reasons = [(each.get("insight"), each.get("reason")) for each in device.no_readings]
        self.assertEqual(sorted(reasons), [("hr", "no_contact"), ("rr", "no_contact")])
        self.assertEqual(notices, device.no_readings)

    async def test_samples_of_a_channel_that_does_not_exist_stop_the_device_when_it_connects(self) -> None:
        device = self.device("early")
        with self.assertRaisesRegex(ValueError, r"channel must be one of 0 \(ppg_green\); it is 'ecg'"):
            async with device:
                await device.push(MODALITY, None, [1, 2])
                await device.push("ecg", None, [1, 2, 3])
        self.assertEqual(device.summary.samples_dropped, 5)

    async def test_single_samples_are_sent_in_frames(self) -> None:
        async with self.device("single") as device:
            start = ago_ms(4)
            for n in range(4 * RATE_HZ):
                await device.push(MODALITY, start + 1000 * n / RATE_HZ, [pulse(n)])
            summary = await device.end()
        self.assertLess(summary.frames_sent, 2 * RATE_HZ)

    async def test_nothing_is_lost_or_doubled_when_gateway_and_fan_out_node_are_killed(self) -> None:
        holes: list[Hole] = []
        seen: list[InsightMessage] = []
        arrived = asyncio.Condition()
        live = subscribe(URL, KEY, devices=["killed"], backoff=BACKOFF, on_hole=holes.append)
        await live.subscribed()

        async def read() -> None:
            async for insight in live:
                async with arrived:
                    seen.append(insight)
                    arrived.notify_all()

        async def seen_more_than(count: int) -> None:
            async with asyncio.timeout(30), arrived:
                await arrived.wait_for(lambda: len(seen) > count)

        reading = asyncio.create_task(read())
        start = ago_ms(200)
        async with self.device("killed") as device:
            await stream(device, start, 0, 40)
            await seen_more_than(10)
            crash = asyncio.create_task(control("crash-gateway"))
            await stream(device, start, 40, 80)
            await crash
            await seen_more_than(len(seen))
            crash = asyncio.create_task(control("crash-node"))
            await stream(device, start, 80, 120)
            await crash
            crash = asyncio.create_task(control("crash-gateway"))
            await stream(device, start, 120, 160)
            await crash
            summary = await device.end()
        stored = await self.rest.session_insights(summary.session_id)
        await seen_more_than(len(stored) - 1)
        await live.close()
        await reading
        self.assertEqual(holes, [])
        self.assertEqual(identities(seen), identities(stored))
        self.assertGreater(summary.reconnects, 0)
        self.assertGreater(live.repaired, 0)
        self.assertEqual(summary.samples_dropped, 0)
        rates = [each for each in stored if each["type"] == "hr"]
        ends = [each["actual_end"] for each in rates]
        self.assertEqual({b - a for a, b in itertools.pairwise(ends)}, {1000})
        self.assertGreater(ends[-1], start + 158_000)
        for kind in ("hr", "rr"):
            times = [each["ts"] for each in seen if each["type"] == kind]
            self.assertEqual(times, sorted(set(times)))

    async def test_a_subscription_since_a_time_begins_with_stored_insights(self) -> None:
        async with self.device("since") as device:
            await stream(device, ago_ms(60), 0, 20)
            first = await device.end()
        stored = await self.rest.session_insights(first.session_id)
        since = stored[3]["ts"]
        async with subscribe(URL, KEY, since=since, devices=["since"]) as live, self.device("since") as device:
            await stream(device, ago_ms(40), 0, 20)
            second = await device.end()
            expected = [each for each in stored if each["ts"] >= since]
            expected += await self.rest.session_insights(second.session_id)
            async with asyncio.timeout(20):
                seen = [await anext(live) for _ in expected]
        self.assertEqual(identities(seen), identities(expected))
        self.assertEqual(set(seen[0]), set(seen[-1]))
        self.assertEqual(live.status.state, "closed")

    async def test_a_subscription_survives_a_cancelled_wait_and_closes_when_it_is_left(self) -> None:
        live = subscribe(URL, KEY, devices=["waits"], types=["hr"], quality="acceptable")
        await live.subscribed()
        for _ in range(2):
            with self.assertRaises(TimeoutError):
                async with asyncio.timeout(0.01):
                    await anext(live)
        async with self.device("waits") as device:
            await stream(device, ago_ms(20), 0, 20)
            summary = await device.end()
        rates = [each for each in await self.rest.session_insights(summary.session_id) if each["type"] == "hr"]
        async with asyncio.timeout(20):
            async for insight in live:
                self.assertEqual(identities([insight]), identities(rates[:1]))
                break
            self.assertEqual(identities([await anext(live), await anext(live)]), identities(rates[1:3]))
        with self.assertRaises(TimeoutError):
            async with asyncio.timeout(0.01):
                async for _ in live:
                    pass
        tasks = asyncio.all_tasks()
        del live
        async with asyncio.timeout(20):
            await asyncio.wait(tasks - {asyncio.current_task()})

    async def test_a_slow_consumer_gets_all_insights_once_after_a_lost_connection(self) -> None:
        async with subscribe(URL, KEY, devices=["slow"], buffer=1, backoff=BACKOFF) as live:
            async with self.device("slow") as device:
                await stream(device, ago_ms(60), 0, 30)
                await control("crash-node")
                await stream(device, ago_ms(60), 30, 60)
                summary = await device.end()
            stored = await self.rest.session_insights(summary.session_id)
            async with asyncio.timeout(20):
                seen = [await anext(live) for _ in stored]
        self.assertEqual(identities(seen), identities(stored))
        self.assertGreater(live.repaired, 0)

    async def test_a_revoked_key_ends_a_device_and_a_subscription_with_4001(self) -> None:
        issued = await control("issue-key")
        live = subscribe(URL, issued["key"])
        await live.subscribed()
        device = self.device("revoked", key=issued["key"])
        with self.assertRaises(ClosedError) as ended:
            async with device:
                await device.ready()
                await control("revoke-key", issued["id"])
                with self.assertRaises(ClosedError) as closed:
                    await anext(live)
                await device.end()
        self.assertEqual([closed.exception.code, ended.exception.code], [4001, 4001])
        self.assertIn("revoked", str(ended.exception))
        self.assertEqual([device.status.state, live.status.state], ["closed", "closed"])
        with self.assertRaises(StopAsyncIteration):
            await anext(live)
        with self.assertRaises(ApiError) as refused:
            await Rest(URL, issued["key"]).algos()
        self.assertEqual(refused.exception.status, 401)

    async def test_a_device_that_is_taken_over_ends_with_4009(self) -> None:
        with self.assertRaises(ClosedError) as closed:
            async with self.device("twice") as first:
                await first.ready()
                async with self.device("twice") as second:
                    await second.ready()
                    await first.end()
        self.assertEqual(closed.exception.code, 4009)

    async def test_refused_frames_are_reported_and_do_not_hold_up_the_others(self) -> None:
        refusals: list[ErrorMessage] = []
        async with self.device("ahead", on_refused=refusals.append) as device:
            start = ago_ms(120)
            await stream(device, start, 0, 10)
            await stream(device, start, 10, 60, shift_ms=1_000_000)
            await stream(device, start, 60, 80)
            summary = await device.end()
        self.assertEqual({each["code"] for each in refusals}, {"in_future"})
        self.assertEqual(summary.frames_refused, len(refusals))
        rates = await self.rest.session_insights(summary.session_id)
        self.assertGreater(rates[-1]["actual_end"], start + 75_000)

    async def test_a_device_whose_clock_is_set_ahead_continues_in_another_session(self) -> None:
        async with self.device("clock") as device:
            first = await device.ready()
            start = ago_ms(20)
            await stream(device, start, 0, 10)
            ahead = time.time() + 3600
            with mock.patch("time.time", lambda: ahead):
                await stream(device, start, 10, 20, shift_ms=3_600_000)
                summary = await device.end()
        self.assertNotEqual(summary.session_id, first["session_id"])
        self.assertEqual(summary.samples_dropped, 0)
        rates = await self.rest.session_insights(summary.session_id)
        self.assertAlmostEqual(rates[-1]["actual_end"], start + 20_000, delta=5000)

    async def test_stored_data_are_pushed_no_faster_than_they_are_sent(self) -> None:
        most = 0
        async with self.device("stored", buffer_bytes=30_000, when_full="wait") as device:
            start = ago_ms(400)
            for begin in range(0, 300, 20):
                await stream(device, start, begin, begin + 20)
                most = max(most, device.backlog_bytes)
            summary = await device.end()
        self.assertEqual(summary.samples_dropped, 0)
        self.assertLessEqual(most, 15_000)

    async def test_rest_iterates_over_all_pages_and_reports_refusals(self) -> None:
        async with self.device("pages") as device:
            await stream(device, ago_ms(30), 0, 30)
            summary = await device.end()
        stored = await self.rest.session_insights(summary.session_id)
        paged = [row async for row in self.rest.insights(device_id="pages", since=0, limit=7)]
        self.assertEqual(identities(paged), identities(stored))
        self.assertEqual([row["ts"] for row in paged], sorted(row["ts"] for row in stored))
        newest = [row["ts"] async for row in self.rest.insights(device_id="pages", limit=7)]
        self.assertEqual(newest, sorted((row["ts"] for row in stored), reverse=True))
        sessions = [row async for row in self.rest.sessions(device_id="pages", status="closed")]
        self.assertEqual([row["id"] for row in sessions], [summary.session_id])
        kinds = {each["type"] for each in await self.rest.session_summary(summary.session_id)}
        self.assertEqual(kinds, {"hr", "rr"})
        self.assertIn(self.model, [each["id"] for each in await self.rest.device_models()])
        self.assertIn("hr-ppg", {each["slug"] for each in await self.rest.algos()})
        with self.assertRaises(ApiError) as raised:
            await self.rest.session("00000000-0000-4000-8000-000000000000")
        self.assertEqual(raised.exception.status, 404)
        with self.assertRaises(ValueError):
            await self.rest.session("..")

    async def test_a_server_that_is_not_the_service_is_named_as_the_cause(self) -> None:
        elsewhere = os.environ["CONTROL"]
        with self.assertRaisesRegex(UnavailableError, "check url"):
            await anext(subscribe(elsewhere, KEY, connect_within_ms=200, backoff=BACKOFF))
        with self.assertRaisesRegex(UnavailableError, "not from the service"):
            await Rest(elsewhere, KEY).device_models()


if __name__ == "__main__":
    unittest.main()
