"""Errors of the HTTP library, mapped to ours, here and nowhere else; none of ours quotes a secret."""

import contextlib
from collections.abc import Iterator

import httpx

from supervisor.agents.errors import (
    BeyondBound,
    ModelError,
    Rejected,
    RequestFailed,
    RetryableModelError,
    StreamBroken,
)
from supervisor.agents.own.model.endpoint import Endpoint, host_of, without_secrets
from supervisor.agents.own.model.http_transport import Unbounded
from supervisor.agents.own.model.sse import EventTooLarge


def clean_error(endpoint: Endpoint, failure: ModelError) -> ModelError:
    """Cut secrets out of an error, which may quote the server's text and so our key.

    This is done after parsing, because JSON has many ways to write a key.
    """
    failure.message = without_secrets(endpoint, failure.message)
    if isinstance(failure, RequestFailed):
        failure.exhausted = without_secrets(endpoint, failure.exhausted)
    failure.args = (failure.message,)
    return failure


@contextlib.contextmanager
def map_errors(endpoint: Endpoint, to: type[RequestFailed | StreamBroken]) -> Iterator[None]:
    """Map the library's exceptions to ours, here and nowhere else."""
    try:
        yield
    except (httpx.UnsupportedProtocol, httpx.LocalProtocolError, httpx.InvalidURL) as error:
        raise Rejected(f"a request to {host_of(endpoint)!r} can't be made: {type(error).__name__}") from None
    except EventTooLarge as error:
        raise BeyondBound(str(error)) from error
    except Unbounded as error:
        raise BeyondBound(str(error)) from error
    except httpx.ReadTimeout as error:
        raise to("idle timeout waiting for SSE") from error
    except httpx.HTTPError as error:
        raise to(_words(endpoint, error, to)) from error


def _words(endpoint: Endpoint, error: httpx.HTTPError, to: type[RetryableModelError]) -> str:
    words = without_secrets(endpoint, str(error)) or type(error).__name__
    return words if to is StreamBroken else f"no answer from {host_of(endpoint)}: {words}"
