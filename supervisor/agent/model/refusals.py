"""A server's no, as one of our errors: an HTTP status with its body, or an error object inside a stream. No I/O.

Also how long it asks us to wait, which servers say in four ways.
"""

import math
import re
from collections.abc import Mapping
from contextlib import suppress
from email.utils import parsedate_to_datetime
from http import HTTPStatus
from typing import Any

from pydantic_core import from_json

from supervisor.agent.model.decoding import Object, a_text, an_object
from supervisor.agent.model.endpoint import WireApi
from supervisor.agent.model.errors import ContextFull, ModelError, Rejected, RequestFailed, StreamBroken, UsageLimit

MAX_SHOWN = 2000  # characters of a body that isn't an error object: enough to see whose page it is
HIGH_DEMAND = "We're currently experiencing high demand, which may cause temporary errors."

NOTHING_LEFT = frozenset(
    {"usage_limit_reached", "usage_not_included", "insufficient_quota", "billing_hard_limit_reached"}
)
TOO_LONG = frozenset({"context_length_exceeded", "string_above_max_length"})
HOPELESS = frozenset({"invalid_prompt", "invalid_request_error", "invalid_api_key", "model_not_found"})
_TOO_LONG_IN_WORDS = re.compile(r"context (length|window|size)|maximum context|prompt is too long", re.IGNORECASE)
_TRY_AGAIN_IN = re.compile(r"try again in (?:(\d{1,6})m(?!s))?(?:(\d{1,9}(?:\.\d+)?)(ms|s))?", re.IGNORECASE)


def of_status(status: int, headers: Mapping[str, str], body: bytes, wire: WireApi, now: float) -> ModelError:
    error, shown = _error_in(body)
    codes = _codes(error)
    called = f"{status} {_phrase(status)}".rstrip()
    text = f"unexpected status {called}" + (f": {shown}" if shown else "")
    if codes & NOTHING_LEFT:
        return _usage_limit(codes, shown)
    if status in {408, 429} or status >= 500:
        exhausted = f"exceeded retry limit, last status: {called}" + (f": {shown}" if shown else "")
        if wire is WireApi.RESPONSES and status == 500:
            exhausted = HIGH_DEMAND
        wait = _asked_in_headers(headers, now)
        return RequestFailed(text, _asked_in_words(shown) if wait is None else wait, exhausted)
    if codes & TOO_LONG or (status in {400, 413, 422} and _TOO_LONG_IN_WORDS.search(shown)):
        return ContextFull(text)
    return Rejected(text)


def in_stream(said: Any) -> ModelError:
    """An error object where news was expected: what may pass breaks the stream, the rest is final."""
    error = an_object(said)
    words = a_text(error.get("message")) or a_text(said) or "response.failed event received"
    codes = _codes(error)
    if codes & NOTHING_LEFT:
        return _usage_limit(codes, words)
    if codes & TOO_LONG:
        return ContextFull(words)
    if codes & HOPELESS:
        return Rejected(words)
    return StreamBroken(words, _asked_in_words(words))


def _error_in(body: bytes) -> tuple[Object, str]:
    """The error object of a body if it has one, and the words to show."""
    try:
        whole = an_object(from_json(body))
    except ValueError:
        whole = {}
    error = an_object(whole.get("error")) or whole
    words = a_text(error.get("message")) or a_text(whole.get("error")) or a_text(whole.get("detail"))
    return error, (words or body.decode("utf-8", "replace")).strip()[:MAX_SHOWN]


def _codes(error: Object) -> set[str]:
    return {a_text(error.get("code")), a_text(error.get("type"))} - {""}


def _usage_limit(codes: set[str], words: str) -> UsageLimit:
    if "usage_not_included" in codes:
        return UsageLimit(f"Your plan doesn't include this model; upgrade it to use it. {words}".rstrip())
    return UsageLimit(f"You've hit your usage limit. {words or 'Try again later.'}")


def _phrase(status: int) -> str:
    try:
        return HTTPStatus(status).phrase
    except ValueError:
        return ""


def _asked_in_headers(headers: Mapping[str, str], now: float) -> float | None:
    """Seconds to wait, by either header, as a number or a date. Nonsense is as good as nothing."""
    for name, unit in (("retry-after-ms", 0.001), ("retry-after", 1.0)):
        with suppress(KeyError, ValueError):
            if math.isfinite(seconds := float(headers[name]) * unit):
                return max(0.0, seconds)
    try:
        return max(0.0, parsedate_to_datetime(headers["retry-after"]).timestamp() - now)
    except (KeyError, ValueError):
        return None


def _asked_in_words(words: str) -> float | None:
    found = _TRY_AGAIN_IN.search(words)
    if not found or not any(found.groups()):
        return None
    minutes, number, unit = found.groups()
    return int(minutes or 0) * 60 + float(number or 0) * (0.001 if unit == "ms" else 1.0)
