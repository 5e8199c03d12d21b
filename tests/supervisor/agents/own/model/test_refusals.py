"""HTTP statuses as errors, and the wait they ask for."""

from email.utils import formatdate

import pytest

from supervisor.agents.errors import ContextFull, FatalModelError, ModelError, Rejected, RequestFailed, UsageLimit
from supervisor.agents.own.model.refusals import of_status

NOW = 1_700_000_000.0


def refused(status: int, body: bytes = b"", **headers: str) -> ModelError:
    spelled = {name.replace("_", "-"): value for name, value in headers.items()}
    return of_status(status, spelled, body, NOW)


@pytest.mark.parametrize("status", [408, 429, 500, 502, 503, 529, 599])
def test_transient_refusals_can_be_retried(status: int) -> None:
    assert isinstance(refused(status), RequestFailed)


@pytest.mark.parametrize("status", [301, 400, 401, 403, 404, 409, 413, 422])
def test_any_other_status_fails_at_once(status: int) -> None:
    assert isinstance(refused(status), FatalModelError)


def test_the_texts_are_those_that_clients_know() -> None:
    assert refused(400, b"no such thing").message == "unexpected status 400 Bad Request: no such thing"
    error = refused(502)
    assert isinstance(error, RequestFailed)
    assert error.exhausted == "exceeded retry limit, last status: 502 Bad Gateway"


@pytest.mark.parametrize(
    "body",
    [
        b'{"error":{"message":"bad model","type":"x"}}',
        b'{"error":"bad model"}',
        b'{"message":"bad model"}',
        b"bad model",
    ],
)
def test_the_servers_message_is_shown_however_it_is_wrapped(body: bytes) -> None:
    assert refused(404, body).message == "unexpected status 404 Not Found: bad model"


def test_a_long_page_is_cut_and_odd_bytes_are_replaced() -> None:
    assert len(refused(400, b"x" * 100_000).message) < 3000
    refused(400, b"\xff\xfe").message.encode()


def test_an_account_with_nothing_left_is_a_usage_limit_though_the_status_is_429() -> None:
    limit = refused(429, b'{"error":{"type":"usage_limit_reached","message":"Back at 5."}}')
    assert limit == UsageLimit("You've hit your usage limit. Back at 5.")
    assert isinstance(refused(429, b'{"error":{"code":"insufficient_quota","message":"pay"}}'), UsageLimit)
    assert "upgrade" in refused(429, b'{"error":{"type":"usage_not_included"}}').message


@pytest.mark.parametrize(
    "body",
    [
        b'{"error":{"code":"context_length_exceeded","message":"too long"}}',
        b'{"error":{"message":"This model\'s maximum context length is 8192 tokens."}}',
        b"the prompt is too long for the context window",
        b'{"error":{"type":"invalid_request_error","message":"prompt is too long: 2 tokens > 1 maximum"}}',
        b'{"error":{"message":"input length and `max_tokens` exceed context limit: 190000 + 32000 > 200000"}}',
        b'{"error":{"type":"exceed_context_size_error","message":"the request exceeds the available size"}}',
        b'{"error":{"message":"The input token count (2) exceeds the maximum number of tokens allowed (1)."}}',
    ],
)
def test_a_full_context_is_told_apart_by_code_or_by_words(body: bytes) -> None:
    assert isinstance(refused(400, body), ContextFull)


def test_a_request_of_too_many_bytes_is_a_context_that_is_full_whoever_says_so() -> None:
    anthropic = b'{"type":"error","error":{"type":"request_too_large","message":"Request exceeds the maximum size"}}'
    assert isinstance(refused(413, anthropic), ContextFull)
    assert isinstance(refused(413, b"<h1>413 Request Entity Too Large</h1>"), ContextFull)


@pytest.mark.parametrize(
    ("status", "body"),
    [
        (402, b'{"type":"error","error":{"type":"billing_error","message":"Pay."}}'),
        (402, b'{"error":{"message":"Insufficient credits","code":402}}'),
        (400, b'{"error":{"type":"invalid_request_error","message":"Your credit balance is too low to access"}}'),
        (400, b'{"error":{"message":"You have reached your specified API usage limits. Access returns on 1 May."}}'),
    ],
)
def test_money_that_has_run_out_is_a_usage_limit(status: int, body: bytes) -> None:
    assert isinstance(refused(status, body), UsageLimit)


@pytest.mark.parametrize(
    ("status", "kind", "error"),
    [
        (401, "authentication_error", Rejected),
        (403, "permission_error", Rejected),
        (404, "not_found_error", Rejected),
        (429, "rate_limit_error", RequestFailed),
        (500, "api_error", RequestFailed),
        (504, "timeout_error", RequestFailed),
        (529, "overloaded_error", RequestFailed),
    ],
)
def test_anthropics_refusals_are_mapped(status: int, kind: str, error: type[ModelError]) -> None:
    refusal = refused(status, f'{{"type":"error","error":{{"type":"{kind}","message":"Why."}}}}'.encode())
    assert type(refusal) is error
    assert refusal.message.endswith(": Why.")


def test_words_about_context_in_another_refusal_mean_nothing() -> None:
    assert type(refused(401, b"no key for this context window")) is Rejected


@pytest.mark.parametrize(
    ("headers", "delay"),
    [
        ({"retry_after": "7"}, 7.0),
        ({"retry_after": "1.5"}, 1.5),
        ({"retry_after": formatdate(NOW + 90, usegmt=True)}, 90.0),
        ({"retry_after": formatdate(NOW - 90, usegmt=True)}, 0.0),
        ({"retry_after": "-3"}, 0.0),
        ({"retry_after_ms": "250", "retry_after": "1"}, 0.25),
        ({"retry_after": "soon"}, None),
        ({}, None),
    ],
)
def test_the_wait_is_read_from_either_header_in_either_form(headers: dict[str, str], delay: float | None) -> None:
    error = refused(429, b"", **headers)
    assert isinstance(error, RequestFailed)
    assert error.retry_after_s == delay


def test_the_wait_may_also_be_in_the_words() -> None:
    error = refused(429, b'{"error":{"message":"Rate limit. Please try again in 1.9s."}}')
    assert isinstance(error, RequestFailed)
    assert error.retry_after_s == 1.9


@pytest.mark.parametrize("nonsense", ["nan", "inf", "1e999"])
def test_a_wait_that_is_no_number_of_seconds_is_ignored(nonsense: str) -> None:
    error = refused(429, b"", retry_after=nonsense)
    assert isinstance(error, RequestFailed)
    assert error.retry_after_s is None
