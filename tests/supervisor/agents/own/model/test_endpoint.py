"""URL, headers and secrets of an endpoint."""

import pytest

from supervisor.agents.errors import Rejected
from supervisor.agents.own.model.endpoint import Endpoint, headers_of, host_of, url_of, without_secrets
from supervisor.config.shared_keys import WireApi


@pytest.mark.parametrize(
    ("base", "query", "url"),
    [
        ("https://api.example/v1", {}, "https://api.example/v1/chat/completions"),
        ("https://api.example/v1/", {}, "https://api.example/v1/chat/completions"),
        ("http://127.0.0.1:9", {"a": "b c&d"}, "http://127.0.0.1:9/chat/completions?a=b%20c%26d"),
        ("https://x/y?api-version=1", {"k": "v"}, "https://x/y/chat/completions?api-version=1&k=v"),
    ],
)
def test_the_url_is_base_path_and_query(base: str, query: dict[str, str], url: str) -> None:
    assert url_of(Endpoint(base, query=query)) == url


def test_each_wire_has_its_path_and_headers() -> None:
    chat, responses = Endpoint("http://x/v1", key="sk-1"), Endpoint("http://x/v1", WireApi.RESPONSES, key="sk-1")
    assert url_of(responses) == "http://x/v1/responses"
    for endpoint in (chat, responses):
        headers = headers_of(endpoint, "s1")
        assert headers["authorization"] == "Bearer sk-1"
        assert headers["accept"] == "text/event-stream"
        assert headers["user-agent"].startswith("greenroom/")
    assert headers_of(responses, "s1").items() >= {
        ("openai-beta", "responses=experimental"),
        ("session_id", "s1"),
        ("originator", "greenroom"),
    }
    assert "session_id" not in headers_of(chat, "s1")
    assert "session_id" not in headers_of(responses, "")


def test_the_endpoints_own_headers_win() -> None:
    headers = headers_of(Endpoint("http://x", key="sk-1", headers={"Authorization": "Basic z", "X-Org": "o"}), "")
    assert headers["authorization"] == "Basic z"
    assert headers["x-org"] == "o"


def test_without_a_key_there_is_no_authorization() -> None:
    assert "authorization" not in headers_of(Endpoint("http://x"), "")
    assert "authorization" not in headers_of(Endpoint("http://x", key=" \n"), "")


def test_a_newline_round_a_key_is_dropped_and_one_inside_is_refused_without_showing_it() -> None:
    assert headers_of(Endpoint("http://x", key="sk-1\n"), "")["authorization"] == "Bearer sk-1"
    for key in ("sk-se\ncret", "sk-secrét"):
        with pytest.raises(Rejected, match="authorization") as refused:
            headers_of(Endpoint("http://x", key=key), "")
        assert key not in str(refused.value)


def test_no_secret_is_in_a_repr() -> None:
    endpoint = Endpoint("http://x", key="sk-key1", query={"api-key": "sk-key2"}, headers={"X-Key": "sk-key3"})
    assert "sk-key" not in repr(endpoint)


def test_secrets_are_blotted_out_of_a_servers_words() -> None:
    endpoint = Endpoint("http://x", key="sk-key1\n", query={"k": "sk-key2", "v": "1"}, headers={"X-Key": "sk-key3"})
    words = without_secrets(endpoint, "bad key sk-key1, sk-key2 or sk-key3, error 1")
    assert words == "bad key […], […] or […], error 1"


def test_only_the_host_of_an_address_is_shown() -> None:
    assert host_of(Endpoint("https://user:secret@api.example:8443/v1?key=secret")) == "api.example:8443"
