import time
import timeit

import pytest
from hypothesis import given
from hypothesis import strategies as st

from supervisor.logs.redaction import names_a_secret, scrub

SECRET = "abcDEF123456ghi"


SECRET_NAMES = """
    api_key apiKey OPENAI_API_KEY Authorization proxy-authorization X-Auth-Token accessToken clientSecret password
    db_passwd Set-Cookie aws_secret_access_key private-key credentials
"""


@pytest.mark.parametrize("name", SECRET_NAMES.split())
def test_a_name_that_holds_a_secret_is_known(name: str) -> None:
    assert names_a_secret(name)


@pytest.mark.parametrize(
    "name",
    [
        "key",
        "env_key",
        "env_key_instructions",
        "event",
        "author",
        "keyboard",
        "tokenizer",
        "secretary",
        "passed",
        "monkey",
    ],
)
def test_a_harmless_name_is_left_alone(name: str) -> None:
    assert not names_a_secret(name)


@pytest.mark.parametrize(
    "text",
    [
        f"Authorization: Bearer {SECRET}",
        f"authorization: Token {SECRET} and more",
        f"[('authorization', 'Digest {SECRET}'), ('accept', 'x')]",
        f"Cookie: a=b; session={SECRET}",
        f"got bearer {SECRET}",
        f"sk-proj-{SECRET}",
        f"ghp_{SECRET}xyz",
        f"https://ada:{SECRET}@example.org/x",
        f"https://x.example/v1?api_key={SECRET}&n=1",
        f"OPENAI_API_KEY={SECRET}",
        f"{{'clientSecret': '{SECRET}'}}",
        f'{{"access_token":"{SECRET}"}}',
        f"password = {SECRET}",
        f"eyJ{SECRET}.{SECRET}.{SECRET}",
        f"1 validation error [type=x, input_value='the prompt\n{SECRET}', input_type=str]",
    ],
)
def test_a_secret_is_cut_out_of_a_text(text: str) -> None:
    assert SECRET not in scrub(text)
    assert "[redacted]" in scrub(text)


@pytest.mark.parametrize(
    "text",
    [
        "turn.complete tokens=1200 input_tokens: 7",
        "the token count is fine",
        "https://example.org:8080/a@b",
        "asked for a key",
        "/home/ada/secrets/file.txt",
        "task-force risk-averse",
    ],
)
def test_an_ordinary_text_stays_as_it_is(text: str) -> None:
    assert scrub(text) == text


SLOW = ["a-", "a", " ", "token ", "token", "eyJ-", "eyJ.", "input_value=", "authorization", "://a:", "sk-", "bearer "]


@pytest.mark.parametrize("piece", SLOW)
def test_a_text_made_to_be_slow_costs_no_more_for_each_character_when_it_is_long(piece: str) -> None:
    def seconds(length: int) -> float:
        text = piece * (length // len(piece))
        return min(timeit.repeat(lambda: scrub(text), timer=time.thread_time, number=1, repeat=5))

    # A pattern of square cost takes 64 times as long for eight times the text; the rest is a busy machine.
    assert seconds(32_000) < 24 * seconds(4_000) + 0.01


@given(st.text())
def test_scrubbing_twice_changes_nothing_more(text: str) -> None:
    assert scrub(scrub(text)) == scrub(text)
