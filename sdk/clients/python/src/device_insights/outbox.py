"""A device's frames between being measured and being forgotten."""

from collections import deque
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from itertools import chain

from .frames import HEADER_BYTES, encode_frame

_WIDEST_SAMPLE = 4
_REPLAY_MS = 60_000
"""Time for which acknowledged frames are kept for a gateway that lost its state (`replay_ms`), ms of data time."""


@dataclass
class Channel:
    """A channel of the session, with the numbers of its instants."""

    index: int
    modality: str
    rate_hz: float
    width: int
    """Values per instant."""
    next: int
    """Number of the next instant to be pushed."""
    acked: int = -1
    """All lower numbers were received or given up."""
    sent: int = -1
    """All lower numbers have been sent or never existed."""
    answered: int = -1
    """All lower numbers were acknowledged or refused."""

    def length_ms(self, first: int, end: int) -> float:
        """Returns the data time from one number to another."""
        return (end - first) * 1000 / self.rate_hz


@dataclass(frozen=True, slots=True)
class _Parcel:
    channel: Channel
    seq: int
    end: int
    frame: bytes

    @property
    def unacknowledged(self) -> int:
        """Number of values that the service has not acknowledged."""
        return self.channel.width * min(self.end - self.seq, max(0, self.end - self.channel.acked))


class Outbox:
    """Frames to send, frames sent but not acknowledged, and the last minute of the acknowledged ones.

    Limited in bytes; the oldest are dropped first, the newest never.
    """

    def __init__(self, limit_bytes: float) -> None:
        self.channels: list[Channel] = []
        self.unsent_bytes = 0
        self._limit = limit_bytes
        self._sent_bytes = 0
        self._sent: deque[_Parcel] = deque()
        self._unsent: deque[_Parcel] = deque()
        self._asked: list[tuple[Channel, int]] | None = None

    @property
    def unacknowledged(self) -> int:
        """Number of values that the service has not acknowledged."""
        return sum(parcel.unacknowledged for parcel in chain(self._sent, self._unsent))

    @property
    def unacked_ms(self) -> float:
        """Data time sent but neither acknowledged nor refused, on the channel with most of it, ms."""
        return max((each.length_ms(max(each.acked, each.answered), each.sent) for each in self.channels), default=0)

    def add(self, channel: Channel, seq: int, ts: float, samples: Sequence[float], max_frame_bytes: int) -> int:
        """Takes samples in as many frames as their size requires; returns the number of values dropped for them."""
        instants = len(samples) // channel.width
        most = max(1, (max_frame_bytes - HEADER_BYTES) // _WIDEST_SAMPLE // channel.width)
        lost = 0
        for first in range(0, instants, most):
            end = min(instants, first + most)
            part = samples[first * channel.width : end * channel.width]
            frame = encode_frame(channel.index, seq + first, ts + channel.length_ms(0, first), part)
            self._unsent.append(_Parcel(channel, seq + first, seq + end, frame))
            self.unsent_bytes += len(frame)
            while self._sent_bytes + self.unsent_bytes > self._limit and len(self._sent) + len(self._unsent) > 1:
                lost += self._drop_oldest()
        return lost

    def take(self) -> bytes | None:
        """Returns the next frame to send, which then counts as sent; None if all have been sent."""
        if not self._unsent:
            return None
        parcel = self._unsent.popleft()
        self._sent.append(parcel)
        self.unsent_bytes -= len(parcel.frame)
        self._sent_bytes += len(parcel.frame)
        channel = parcel.channel
        if channel.acked < 0:
            channel.acked = parcel.seq
        channel.sent = max(channel.sent, parcel.end)
        return parcel.frame

    def acknowledge(self, next_seq: Mapping[str, int]) -> None:
        """Notes that the service has received or given up all numbers below these, by the index of their channel."""
        for channel in self.channels:
            channel.acked = next_seq.get(str(channel.index), channel.acked)
        while (
            self._sent and self._sent[0].channel.length_ms(self._sent[0].end, self._sent[0].channel.acked) >= _REPLAY_MS
        ):
            self._drop_oldest()

    def ask(self) -> bool:
        """Notes what has been sent before a ping; False if another ping has no answer yet."""
        if self._asked is not None:
            return False
        self._asked = [(channel, channel.sent) for channel in self.channels]
        return True

    def settle(self) -> None:
        """Notes the answer to the ping: what was sent before it and is not acknowledged was refused."""
        for channel, sent in self._asked or []:
            channel.answered = sent
        self._asked = None

    def resume(self, replay_ms: float) -> None:
        """Goes back on a new connection to the data that were not acknowledged, and by `replay_ms`."""
        parcels = [*self._sent, *self._unsent]
        needed = (
            n
            for n, each in enumerate(parcels)
            if each.end > each.channel.acked
            or (replay_ms > 0 and each.channel.length_ms(each.end, each.channel.sent) < replay_ms)
        )
        first = next(needed, len(parcels))
        self._sent, self._unsent = deque(parcels[:first]), deque(parcels[first:])
        self._sent_bytes = sum(len(each.frame) for each in self._sent)
        self.unsent_bytes = sum(len(each.frame) for each in self._unsent)
        self._asked = None
        for channel in self.channels:
            if replay_ms > 0:
                channel.acked = -1
            channel.sent = channel.answered = channel.acked

    def _drop_oldest(self) -> int:
        if self._sent:
            parcel = self._sent.popleft()
            self._sent_bytes -= len(parcel.frame)
        else:
            parcel = self._unsent.popleft()
            self.unsent_bytes -= len(parcel.frame)
        return parcel.unacknowledged
