"""Client of the Device Insights Service: streams a device's samples, and delivers live and stored insights."""

from .device import Device, DeviceSummary
from .errors import ApiError, ClosedError, UnavailableError
from .frames import encode_frame
from .link import Backoff, State, Status, may_reconnect
from .rest import Rest
from .subscriber import INSIGHT_TYPES, Hole, Subscription, subscribe

__all__ = [
    "INSIGHT_TYPES",
    "ApiError",
    "Backoff",
    "ClosedError",
    "Device",
    "DeviceSummary",
    "Hole",
    "Rest",
    "State",
    "Status",
    "Subscription",
    "UnavailableError",
    "encode_frame",
    "may_reconnect",
    "subscribe",
]
