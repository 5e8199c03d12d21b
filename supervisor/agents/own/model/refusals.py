"""A server's refusal as one of our errors: an HTTP status with its body, or an error object in a stream. No I/O.

It includes the time to wait, which servers state in four ways.
"""

import html
import math
import re
from collections.abc import Mapping
from contextlib import suppress
from email.utils import parsedate_to_datetime
from http import HTTPStatus
from typing import Any

from pydantic_core import from_json

from supervisor.agents.errors import ContextFull, ModelError, Rejected, RequestFailed, StreamBroken, UsageLimit
from supervisor.agents.own.model.decoding import Object, a_count, a_text, an_object

TOO_LARGE = 413  # in bytes, for the server or a proxy before it: a shorter history helps here, too
MAX_SHOWN = 2000  # characters of a body that isn't an error object: enough to see whose page it is

NOTHING_LEFT = frozenset(
    {
        *("usage_limit_reached", "usage_not_included", "insufficient_quota", "billing_hard_limit_reached"),
        "billing_error",  # Anthropic's
    }
)
TOO_LONG = frozenset(
    {
        *("context_length_exceeded", "string_above_max_length"),
        "request_too_large",  # Anthropic's
        "exceed_context_size_error",  # llama.cpp's
    }
)
HOPELESS = frozenset(
    {
        *("invalid_prompt", "invalid_request_error", "invalid_api_key", "model_not_found"),
        *("authentication_error", "permission_error", "not_found_error"),  # Anthropic's
    }
)
_PAGE = re.compile(r"\s{0,100}<(?:!doctype|html|head|body|h1|p)\b", re.IGNORECASE)
_UNREAD = re.compile(r"<(script|style)\b[^<]{0,20000}</\1>|<!--[^<>]{0,2000}-->", re.IGNORECASE)
_TAG = re.compile(r"<[^<>]{0,2000}>")
_TOO_LONG_IN_WORDS = re.compile(
    r"context (length|window|size|limit)|maximum context|(prompt|input) is too long|input token count.{0,40}exceeds",
    re.IGNORECASE,
)
_NOTHING_LEFT_IN_WORDS = re.compile(
    r"credit balance is too low|reached your specified API usage limits", re.IGNORECASE
)
_UNKNOWN_MEMBER = re.compile(
    r"status 4(00|22)\b.*(stream_options|include_usage|extra (inputs|fields)|extra_forbidden|additional propert"
    r"|(unknown|unrecognized|unexpected|unsupported|invalid) (request )?(field|key|parameter|argument|propert))",
    re.IGNORECASE,
)
_TRY_AGAIN_IN = re.compile(r"try again in (?:(\d{1,6})m(?!s))?(?:(\d{1,9}(?:\.\d+)?)(ms|s))?", re.IGNORECASE)


def of_status(status: int, headers: Mapping[str, str], body: bytes, now: float) -> ModelError:
    error, shown = _error_in(body)
    codes = _codes(error)
    called = f"{status} {_phrase(status)}".rstrip()
    text = f"unexpected status {called}" + (f": {shown}" if shown else "")
    if codes & NOTHING_LEFT or status == HTTPStatus.PAYMENT_REQUIRED or _NOTHING_LEFT_IN_WORDS.search(shown):
        return _usage_limit(codes, shown)
    if status in {408, 429} or status >= 500:
        exhausted = f"exceeded retry limit, last status: {called}" + (f": {shown}" if shown else "")
        wait = _asked_in_headers(headers, now)
        return RequestFailed(text, _asked_in_words(shown) if wait is None else wait, exhausted)
    if codes & TOO_LONG or status == TOO_LARGE or (status in {400, 422} and _TOO_LONG_IN_WORDS.search(shown)):
        return ContextFull(text)
    return Rejected(text)


def refuses_a_member(error: ModelError) -> bool:
    """Tell whether a server may have refused a request for a member that it doesn't know."""
    return _UNKNOWN_MEMBER.search(error.message) is not None


def in_stream(said: Any) -> ModelError:
    """Return the error for an error object in a stream: StreamBroken if asking again may help, otherwise final."""
    error = an_object(said)
    codes = _codes(error)
    words = _one_line(a_text(error.get("message")) or a_text(said)) or "response.failed event received"
    status = next((code for code in sorted(codes) if code.isdecimal() and code not in words), None)
    if status is not None:
        words = f"{status}: {words}"
    if codes & NOTHING_LEFT:
        return _usage_limit(codes, words)
    if codes & TOO_LONG or (codes & HOPELESS and _TOO_LONG_IN_WORDS.search(words)):
        return ContextFull(words)
    if codes & HOPELESS:
        return Rejected(words)
    return StreamBroken(words, _asked_in_words(words))


def _error_in(body: bytes) -> tuple[Object, str]:
    """Return a body's error object, if it has one, and the text to show."""
    try:
        whole = an_object(from_json(body))
    except ValueError:
        whole = {}
    error = an_object(whole.get("error")) or whole
    words = a_text(error.get("message")) or a_text(whole.get("error")) or a_text(whole.get("detail"))
    return error, _one_line(words or _page_words(body.decode("utf-8", "replace")))


def _page_words(body: str) -> str:
    """Return the visible text of an HTML page; any other body as it is."""
    if not _PAGE.match(body):
        return body
    return html.unescape(_TAG.sub(" ", _UNREAD.sub(" ", body)))


def _one_line(words: str) -> str:
    return " ".join(words[: 8 * MAX_SHOWN].split())[:MAX_SHOWN]


def _codes(error: Object) -> set[str]:
    """Collect the codes of an error; some servers repeat the status as a number."""
    given = (error.get("code"), error.get("type"), error.get("status"))
    codes = (str(a_count(value)) if a_count(value) is not None else a_text(value) for value in given)
    return {code[:MAX_SHOWN] for code in codes} - {""}


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
    """Return the seconds to wait that a header asks for, as a number or a date; nonsense is ignored."""
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
