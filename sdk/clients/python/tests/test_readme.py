"""The programs of README.md run against the service."""

import asyncio
import re
import sys
import unittest
from asyncio.subprocess import PIPE, Process
from pathlib import Path

from service import KEY, URL

README = (Path(__file__).parent.parent / "README.md").read_text(encoding="utf8")
PROGRAMS = [
    block.replace("http://localhost:8080", URL).replace("svc_…", KEY)
    for block in re.findall(r"```python\n(.*?)```", README, re.DOTALL)
]


async def start(program: str) -> Process:
    return await asyncio.create_subprocess_exec(sys.executable, "-c", program, stdout=PIPE, stderr=PIPE)


async def outcome(process: Process) -> tuple[int | None, str, str]:
    out, err = await process.communicate()
    return process.returncode, out.decode(), err.decode()


class Readme(unittest.IsolatedAsyncioTestCase):
    async def test_programs_do_what_they_say(self) -> None:
        device, live, stored = PROGRAMS
        code, out, _ = await outcome(await start(device))
        self.assertEqual(code, 0)
        self.assertRegex(out, r"frames_sent=100, frames_refused=0, samples_dropped=0")
        self.assertEqual((await outcome(await start(stored)))[0], 0)
        self.assertIn('quality="acceptable"', live)
        subscribed = await start(live.replace('quality="acceptable"', "since=0"))
        self.assertRegex((await outcome(subscribed))[1], r"\w+ hr [\d.]+ bpm \w+\n$")


if __name__ == "__main__":
    unittest.main()
