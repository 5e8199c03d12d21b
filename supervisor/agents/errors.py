"""Failures between us and a model. The text is for people and names no secret.

ModelError
├── RetryableModelError     asking again may help, after `retry_after_s` if the server said so
│   ├── RequestFailed       no stream began: transport, 408, 429, 5xx
│   └── StreamBroken        it began and didn't reach its end
└── FatalModelError         asking the same again would fail the same
    ├── Rejected            another status, or a request that can't be sent
    ├── UsageLimit          the account has nothing left
    ├── ContextFull         the history no longer fits
    ├── AnswerCut           the model or a filter stopped before the answer was whole
    ├── BeyondBound         the answer, or the request, is larger than the config allows
    └── RetriesExhausted    a budget ran out
"""

from actors.vocabulary.errors import GreenroomError


class ModelError(GreenroomError):
    code = "model"
    jsonrpc = -31500


class RetryableModelError(ModelError):
    code = "model_unavailable"
    jsonrpc = -31501
    retryable = True

    def __init__(self, message: str, retry_after_s: float | None = None) -> None:
        super().__init__(message)
        self.retry_after_s = retry_after_s


class RequestFailed(RetryableModelError):
    """No stream began. `exhausted` is the text for the case that no further try is left."""

    code = "model_request_failed"
    jsonrpc = -31502

    def __init__(self, message: str, retry_after_s: float | None = None, exhausted: str | None = None) -> None:
        super().__init__(message, retry_after_s)
        self.exhausted = exhausted or f"exceeded retry limit, last error: {message}"


class StreamBroken(RetryableModelError):
    code = "model_stream_broken"
    jsonrpc = -31503

    def __init__(self, detail: str, retry_after_s: float | None = None) -> None:
        super().__init__(f"stream disconnected before completion: {detail}", retry_after_s)


class FatalModelError(ModelError):
    code = "model_failed"
    jsonrpc = -31504


class Rejected(FatalModelError):
    code = "model_rejected"
    jsonrpc = -31505


class UsageLimit(FatalModelError):
    code = "usage_limit"
    jsonrpc = -31506


class ContextFull(FatalModelError):
    code = "context_full"
    jsonrpc = -31508


class AnswerCut(FatalModelError):
    code = "answer_cut"
    jsonrpc = -31509

    def __init__(self, reason: str) -> None:
        super().__init__(f"the model stopped before its answer was whole: {reason}")


class BeyondBound(FatalModelError):
    code = "model_bound"
    jsonrpc = -31511


class RetriesExhausted(FatalModelError):
    code = "retries_exhausted"
    jsonrpc = -31510
