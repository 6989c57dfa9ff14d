"""The errors of the client, and texts of the service as they show them."""


class ApiError(Exception):
    """The service refused a REST request, or failed after the retries (5xx)."""

    def __init__(self, status: int, detail: str, request_id: str | None) -> None:
        super().__init__(f"{status}: {detail}" + (f" (request {request_id})" if request_id else ""))
        self.status = status
        """HTTP status: 400 for a wrong value, 401 for a key that is not valid, 403, 404, 409 for a conflict."""
        self.detail = detail
        """The service's description of the fault."""
        self.request_id = request_id
        """`X-Request-Id` of the response, by which the service's log has more."""


class UnavailableError(ConnectionError):
    """The service cannot be reached, did not answer in time, or something else answers at its address."""


class ClosedError(Exception):
    """A connection that ended permanently, because the service refused it."""

    def __init__(self, code: int, reason: str) -> None:
        super().__init__(f"the connection is closed ({code})" + (f": {reason}" if reason else ""))
        self.code = code
        """The close code, such as 4001 for a key that is not valid, revoked or expired."""
        self.reason = reason
        """The service's reason."""


def is_passing(error: ApiError | UnavailableError) -> bool:
    """Whether the same request may succeed later."""
    return not isinstance(error, ApiError) or is_passing_status(error.status)


def is_passing_status(status: int) -> bool:
    """Whether the same request may succeed after this HTTP status."""
    return status >= 500 or status in (408, 429)


def quote(text: str, key: str) -> str:
    """Returns a text of a server as errors show it: cut, without control characters and without the key."""
    return "".join(c if c.isprintable() else " " for c in text.replace(key, "…")[:1000])
