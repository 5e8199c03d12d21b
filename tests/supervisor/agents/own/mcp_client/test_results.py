"""A server's answers, as the model is told of them: bounded, recognised, and in words where it can't be shown."""

from base64 import b64encode
from typing import Any

from hypothesis import given
from hypothesis import strategies as st

from supervisor.agents.own.mcp_client.results import NOTHING, PICTURES, PICTURES_BYTES, Result, result_of
from supervisor.config.bounds import DEFAULTS

PNG = b"\x89PNG\r\n\x1a\n" + bytes(8)
JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.text(max_size=20),
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(st.text(max_size=8), inner, max_size=4),
    max_leaves=10,
)
KINDS = st.sampled_from(["text", "image", "audio", "resource", "resource_link", "video"])


def of(*content: Any, **more: Any) -> Result:
    return result_of({"content": list(content), **more}, "files read", DEFAULTS)


def image(data: bytes) -> dict[str, str]:
    return {"type": "image", "data": b64encode(data).decode(), "mimeType": "image/png"}


def test_text_is_told_as_it_is_and_kept_for_history() -> None:
    result = of({"type": "text", "text": "a"}, {"type": "text", "text": "b"})
    assert (result.for_model.text, result.for_model.failed) == ("a\nb", None)
    assert result.for_history == {"content": [{"type": "text", "text": "a\nb"}], "isError": False}


def test_a_long_text_is_bounded_like_a_command_s_output() -> None:
    text = of({"type": "text", "text": "x\n" * 100_000}).for_model.text
    assert len(text) < DEFAULTS.model_output_bytes + 200
    assert "left out" in text


def test_a_picture_becomes_one_of_ours_by_what_it_is_and_not_by_what_it_is_called() -> None:
    told = of({**image(PNG), "mimeType": "image/gif"}).for_model
    assert [one.image_url for one in told.pictures] == [f"data:image/png;base64,{b64encode(PNG).decode()}"]
    assert told.text == "[a picture, image/png, 16 bytes]"


def test_a_result_that_is_no_picture_is_told_in_words() -> None:
    told = of(image(b"<svg/>"), {"type": "image", "data": "!!"}).for_model
    assert told.pictures == ()
    assert (
        told.text == "[a picture, 6 bytes: not a PNG, JPEG, GIF or WebP picture]\n[a picture: its data is not base64]"
    )


def test_pictures_beyond_the_bound_are_left_out_and_that_is_said() -> None:
    many = of(*[image(PNG)] * (PICTURES + 2)).for_model
    assert len(many.pictures) == PICTURES
    assert "[2 more pictures were left out" in many.text
    large = of(image(PNG + bytes(PICTURES_BYTES))).for_model
    assert large.pictures == ()


def test_pictures_never_fill_more_than_half_an_event_which_would_lose_its_middle() -> None:
    answer = {"content": [image(PNG + bytes(60_000))]}
    assert result_of(answer, "s t", DEFAULTS).for_model.pictures
    assert result_of(answer, "s t", DEFAULTS.model_copy(update={"event_bytes": 100_000})).for_model.pictures == ()


def test_structured_content_is_told_where_no_text_says_the_same() -> None:
    assert of(structuredContent={"warm": True}).for_model.text == '{"warm": true}'
    assert of({"type": "text", "text": "warm"}, structuredContent={"warm": True}).for_model.text == "warm"


def test_resources_and_links_are_told_as_text() -> None:
    embedded = {"type": "resource", "resource": {"uri": "file:///a", "text": "words"}}
    link = {"type": "resource_link", "uri": "file:///b", "name": "b"}
    assert of(embedded, link).for_model.text == "[the resource file:///a]\nwords\n[a resource: file:///b b]"


def test_an_error_of_the_tool_is_a_failure_with_its_first_line_for_people() -> None:
    told = of({"type": "text", "text": "no such file\nmore"}, isError=True).for_model
    assert told.text == "no such file\nmore"
    assert told.failed is not None
    assert (told.failed.kind, told.failed.message) == ("tool", "files read: no such file")


def test_an_empty_answer_is_said_to_be_one() -> None:
    assert of().for_model.text == NOTHING


@given(
    st.lists(
        st.fixed_dictionaries(
            {"type": KINDS},
            optional={
                "text": JSON,
                "data": st.text(),
                "resource": st.dictionaries(st.sampled_from(["uri", "text", "blob"]), st.text()),
            },
        ),
        max_size=6,
    ),
    JSON,
)
def test_any_answer_becomes_a_text(content: list[dict[str, Any]], structured: Any) -> None:
    assert of(*content, structuredContent=structured).for_model.text
