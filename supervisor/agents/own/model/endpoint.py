"""The address of a model: URL, headers, key, retries. Made from the config; no I/O, no secret in a repr."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from functools import cache, lru_cache
from importlib.metadata import PackageNotFoundError, version
from urllib.parse import parse_qsl, quote, urlencode, urlsplit, urlunsplit

from supervisor.agents.errors import Rejected
from supervisor.agents.own.model.claude import features
from supervisor.agents.own.model.secret_redaction import redact
from supervisor.config.shared_keys import KeyHeader, WireApi
from supervisor.logs.redaction import names_a_secret

SECRET_LENGTH = 6  # shorter values (`v1`, `true`) are no secrets, and cutting them out would garble texts


PATHS = {WireApi.CHAT: "/chat/completions", WireApi.RESPONSES: "/responses", WireApi.MESSAGES: "/messages"}
MESSAGES_VERSION = "2023-06-01"  # the only one in use; later features have names of their own


@dataclass(frozen=True, slots=True)
class Endpoint:
    """An endpoint of a provider. `include_usage` asks a chat server for token counts."""

    base_url: str
    wire: WireApi = WireApi.CHAT
    key: str | None = field(default=None, repr=False)
    query: Mapping[str, str] = field(default_factory=dict, repr=False)
    headers: Mapping[str, str] = field(default_factory=dict, repr=False)
    request_max_retries: int = 4
    stream_max_retries: int = 5
    stream_idle_timeout_s: float = 300.0
    include_usage: bool = False
    key_header: KeyHeader | None = None  # None: the one that the wire's own provider has
    web_search: bool = False  # where the provider has it built in
    longest_answer: int | None = None  # in tokens; the chat wire has no name for it that all servers know


def url_of(endpoint: Endpoint) -> str:
    """Build the URL. The base's own query, as some gateways want it, stays in front of the endpoint's."""
    return _url(endpoint.base_url, PATHS[endpoint.wire], tuple(endpoint.query.items()))


@lru_cache(64)
def _url(base_url: str, suffix: str, more: tuple[tuple[str, str], ...]) -> str:
    """Build the URL once: it is the same for every request."""
    try:
        scheme, netloc, path, query, _ = base = urlsplit(base_url)
        usable = scheme in {"http", "https"} and bool(base.hostname) and base.port != 0
    except ValueError:  # brackets that don't match, or a port beyond 65535
        usable = False
    if not usable:
        raise Rejected("the model provider's base_url is not an http or https URL")
    query = urlencode([*parse_qsl(query, keep_blank_values=True), *more], quote_via=quote)
    return urlunsplit((scheme, netloc, path.rstrip("/") + suffix, query, ""))


def headers_of(endpoint: Endpoint, session_id: str, model: str = "") -> dict[str, str]:
    """Build the headers, by lower-case name. The endpoint's own headers win over ours."""
    headers = {
        "accept": "text/event-stream",
        "accept-encoding": "identity",  # a proxy that compresses a stream holds it back
        "content-type": "application/json",
        "user-agent": f"greenroom/{our_version()}",
    }
    if endpoint.wire is WireApi.RESPONSES:
        headers |= {"openai-beta": "responses=experimental", "originator": "greenroom"}
        if session_id:
            headers["session_id"] = session_id
    if endpoint.wire is WireApi.MESSAGES:
        headers["anthropic-version"] = MESSAGES_VERSION
        if named := features(model):
            headers["anthropic-beta"] = named
    headers |= _key_of(endpoint)
    headers |= {name.lower(): value for name, value in endpoint.headers.items()}
    for name, value in headers.items():
        if not (value.isascii() and value.isprintable()):  # checked here, because the library's error shows the value
            raise Rejected(f"the header {name} has characters that HTTP can't carry")
    return headers


def _key_of(endpoint: Endpoint) -> dict[str, str]:
    key = (endpoint.key or "").strip()
    if not key:
        return {}
    header = endpoint.key_header or ("x-api-key" if endpoint.wire is WireApi.MESSAGES else "authorization")
    return {header: f"Bearer {key}" if header == "authorization" else key}


def host_of(endpoint: Endpoint) -> str:
    """Return the part of the address that may be shown: no user, no query."""
    return urlsplit(endpoint.base_url).netloc.rpartition("@")[2]


def without_secrets(endpoint: Endpoint, text: str) -> str:
    """Cut the endpoint's secrets out of a server's text, which may quote our request."""
    given = {**endpoint.headers, **endpoint.query}
    keys = [endpoint.key or "", *(value for name, value in given.items() if names_a_secret(name))]
    secrets = {value.strip() for value in (*keys, *given.values()) if len(value.strip()) >= SECRET_LENGTH}
    longest_first = sorted(secrets, key=len, reverse=True)  # a secret may be part of another
    return redact(text, longest_first, [key.strip() for key in keys])


@cache
def our_version() -> str:
    try:
        return version("greenroom")
    except PackageNotFoundError:  # run from a source tree that is not installed
        return "0"
