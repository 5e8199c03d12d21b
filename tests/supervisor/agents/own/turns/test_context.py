"""The model's context beside the conversation: instructions, guides, surroundings, pictures; and its cost."""

import base64
from pathlib import Path
from typing import Any

import pytest

from actors.vocabulary import events as ev
from actors.vocabulary.conditions import Ending
from actors.vocabulary.events import MessageKind
from actors.vocabulary.items import ImageItem, LocalImageItem
from actors.vocabulary.settings import ApprovalPolicy, ReadOnly, WorkspaceWrite
from tests.supervisor.agents.own.turns.requests import lines, talk
from tests.support.engine_harness import EngineHarness, Talk, harness_at
from tests.support.git_folder import as_work_tree
from tests.support.model_server import ModelServer

PIXEL = base64.b64decode(
    "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAAAAAA6fptVAAAACklEQVR4nGNgAAAAAgABSK+kcQAAAABJRU5ErkJggg=="
)


def told(conversation: Talk, kind: MessageKind) -> list[str]:
    return [one.message for one in conversation.all(ev.UserMessage) if one.kind is kind]


def test_the_surroundings_come_before_what_was_said_and_the_person_has_the_last_word(
    either: EngineHarness, server: ModelServer
) -> None:
    conversation = either.talk(sandbox=ReadOnly(), approval_policy=ApprovalPolicy.ON_REQUEST)
    conversation.ask("Hello")
    context, last = lines(server.requests[0])
    assert context[1] == (
        f"<environment_context>\nCurrent working directory: {either.workspace}\nApproval policy: on-request\n"
        "Sandbox mode: read-only\nNetwork access: restricted\n</environment_context>"
    )
    assert last == ("user", "Hello")


def test_the_surroundings_are_told_once_and_again_when_settings_change(
    either: EngineHarness, server: ModelServer
) -> None:
    conversation = either.talk()
    conversation.ask("say one")
    conversation.ask("say two")
    assert len(told(conversation, MessageKind.ENVIRONMENT_CONTEXT)) == 1
    root = either.home / "more"
    root.mkdir()
    changed = WorkspaceWrite(writable_roots=(root,), network_access=True)
    conversation.change(conversation.settings.model_copy(update={"sandbox": changed}))
    conversation.ask("say three")
    _, second = told(conversation, MessageKind.ENVIRONMENT_CONTEXT)
    assert "Sandbox mode: workspace-write\nNetwork access: enabled\n" in second
    assert f"Writable roots: {root}" in second
    assert lines(server.requests[-1])[-2:] == [("user", second), ("user", "say three")]
    either.restart()
    conversation.ask("say four")
    assert len(told(conversation, MessageKind.ENVIRONMENT_CONTEXT)) == 2


def test_a_turn_with_settings_of_its_own_is_told_of_them_and_the_next_of_the_old_ones(harness: EngineHarness) -> None:
    conversation = harness.talk()
    conversation.ask("say one")
    conversation.ask("say two", settings=conversation.settings.model_copy(update={"sandbox": ReadOnly()}))
    conversation.ask("say three")
    modes = [text.split("Sandbox mode: ")[1].split("\n")[0] for text in told(conversation, ENVIRONMENT)]
    assert modes == ["danger-full-access", "read-only", "danger-full-access"]


ENVIRONMENT = MessageKind.ENVIRONMENT_CONTEXT


def test_guides_are_read_from_home_and_from_the_repository_root_down(
    harness: EngineHarness, server: ModelServer
) -> None:
    deep = harness.workspace / "a" / "b"
    deep.mkdir(parents=True)
    as_work_tree(harness.workspace)
    (harness.home / "AGENTS.md").write_text("above the repository")
    (harness.home / "config" / "AGENTS.md").write_text("of the user\n")
    (harness.workspace / "AGENTS.md").write_text("of the root")
    (deep / "AGENTS.md").write_text("of the folder")
    harness.talk(cwd=deep).ask("say one")
    guide, context, said = lines(server.requests[0])
    separator = "\n\n--- project-doc ---\n\n"
    text = separator.join(("of the user", "of the root", "of the folder"))
    assert guide == ("user", f"<user_instructions>\n\n{text}\n\n</user_instructions>")
    assert context[1].startswith("<environment_context>")
    assert said == ("user", "say one")


def test_a_guide_that_changes_is_told_again_and_one_that_does_not_is_not(
    harness: EngineHarness, server: ModelServer
) -> None:
    conversation = harness.talk()
    guide = harness.workspace / "AGENTS.md"
    guide.write_text("first")
    conversation.ask("say one")
    conversation.ask("say two")
    guide.write_text("second")
    conversation.ask("say three")
    texts = told(conversation, MessageKind.USER_INSTRUCTIONS)
    assert ["first" in text for text in texts] == [True, False]
    assert "second" in lines(server.requests[-1])[-2][1]


def test_guides_are_cut_to_the_configured_size_in_all(tmp_path: Path, server: ModelServer) -> None:
    with harness_at(tmp_path, server.base_url, top="project_doc_max_bytes = 10") as harness:
        (harness.home / "config" / "AGENTS.md").write_text("12345")
        (harness.workspace / "AGENTS.md").write_text("äöüäöü")
        harness.talk().ask("say one")
    assert "\n\n12345\n\n--- project-doc ---\n\näö\n\n" in lines(server.requests[0])[0][1]


def test_no_guide_is_read_where_the_config_says_so(tmp_path: Path, server: ModelServer) -> None:
    with harness_at(tmp_path, server.base_url, top="project_doc_max_bytes = 0") as harness:
        (harness.workspace / "AGENTS.md").write_text("unread")
        harness.talk().ask("say one")
    assert len(lines(server.requests[0])) == 2


def test_new_surroundings_come_behind_old_ones_when_a_turn_in_between_was_interrupted(
    harness: EngineHarness, server: ModelServer
) -> None:
    conversation = harness.talk()
    conversation.start("hold here")
    server.wait_held("here")
    conversation.interrupted(conversation.interrupt())
    conversation.change(conversation.settings.model_copy(update={"sandbox": ReadOnly()}))
    conversation.ask("say on")
    first, second = told(conversation, ENVIRONMENT)
    assert [line[1] for line in lines(server.requests[-1])] == [first, "hold here", second, "say on"]


def instructions(body: dict[str, Any]) -> list[str]:
    """Return what a request says before its history, as the wire's own role for it."""
    if "system" in body:
        return [block["text"] for block in body["system"]]
    if "messages" in body:
        return [message["content"] for message in body["messages"] if message["role"] == "system"]
    developer = [item["content"][0]["text"] for item in body["input"] if item.get("role") == "developer"]
    return [body["instructions"], *developer]


def test_base_instructions_replace_ours(either: EngineHarness, server: ModelServer) -> None:
    either.talk(base_instructions="You are a test.").ask("say one")
    body = server.requests[0].body
    assert str(instructions(body)[0]).startswith("You are a test.")


def test_developer_instructions_come_first_in_every_request_and_after_a_restart(
    either: EngineHarness, server: ModelServer
) -> None:
    conversation = either.talk(developer_instructions="Review only.")
    conversation.ask("say one")
    conversation.ask("say two")
    either.restart()
    conversation.ask("say three")
    for request in server.requests:
        assert instructions(request.body)[1] == "Review only."
        assert str(request.body).count("Review only.") == 1


def test_pictures_reach_the_model_as_data_and_their_place_in_history_as_files(
    either: EngineHarness, server: ModelServer
) -> None:
    picture = either.workspace / "a b.png"
    picture.write_bytes(PIXEL)
    conversation = either.talk()
    conversation.ask("say see", ImageItem(image_url="data:image/png;base64,AAAA"), LocalImageItem(path=picture))
    either.restart()
    conversation.ask("say again")
    whole = str(server.requests[-1].body)
    assert "AAAA" in whole
    assert base64.b64encode(PIXEL).decode() in whole
    assert conversation.all(ev.UserMessage)[0].items[2] == LocalImageItem(path=picture)


def test_a_picture_that_is_gone_is_said_in_words(harness: EngineHarness, server: ModelServer) -> None:
    harness.talk().ask("say see", LocalImageItem(path=harness.workspace / "gone.png"))
    content = server.requests[0].body["messages"][-1]["content"]
    assert f"[a picture was left out: there is no {harness.workspace / 'gone.png'}]" in str(content)


def test_a_picture_by_a_relative_path_is_one_of_the_conversation_directory(
    either: EngineHarness, server: ModelServer
) -> None:
    (either.workspace / "a.png").write_bytes(PIXEL)
    either.talk().ask("say see", LocalImageItem(path=Path("a.png")))
    assert base64.b64encode(PIXEL).decode() in str(server.requests[-1].body)


def test_an_invalid_picture_ends_no_turn_and_is_reported_to_the_person_once(
    either: EngineHarness, server: ModelServer
) -> None:
    (either.workspace / "notes.txt").write_text("words")
    conversation = either.talk()
    conversation.ask("say see; ", LocalImageItem(path=Path("notes.txt")))
    assert conversation.ask("say again").message == "again"
    why = f"the picture {either.workspace / 'notes.txt'} is not a PNG, JPEG, GIF or WebP file"
    assert f"[{why}]" in str(server.requests[-1].body)
    assert [one.message for one in conversation.all(ev.BackgroundEvent)] == [
        f"the model does not get a picture: {why}"
    ]
    either.restart()
    assert conversation.ask("say more").message == "more"


def test_a_conversation_whose_picture_the_provider_refuses_is_freed_by_a_restart(
    harness: EngineHarness, server: ModelServer
) -> None:
    conversation = harness.talk()
    picture = ImageItem(image_url="https://example.invalid/gone.png")
    with pytest.raises(AssertionError, match="nothing to restart"):
        conversation.restart()
    failed = conversation.result(conversation.start("status 400 the picture can't be had", picture))
    assert failed.ending is Ending.ERROR
    conversation.restart()
    assert conversation.ask("say on").message == "on"
    assert "example.invalid" in str(server.requests[0].body)
    assert "example.invalid" not in str(server.requests[-1].body)
    harness.restart()
    conversation.ask("say still")
    assert "example.invalid" not in str(server.requests[-1].body)


def test_tokens_are_counted_for_each_response_and_for_the_conversation(either: EngineHarness) -> None:
    conversation = either.talk()
    conversation.ask('call shell ["true"]; usage 100 10 50 5; then; say done; usage 200 20')
    counts = [(one.input_tokens, one.output_tokens, one.total_tokens) for one in conversation.all(ev.TokenCount)]
    assert counts == [(100, 10, 110), (200, 20, 220)]
    assert conversation.all(ev.TokenCount)[0].cached_input_tokens == 50
    assert conversation.summary().tokens == 330
    either.restart()
    assert conversation.summary().tokens == 330


def test_a_full_context_is_said_clearly_and_the_conversation_lives_on(either: EngineHarness) -> None:
    conversation = either.talk()
    failed = conversation.result(
        conversation.start("status 400 type=context_length_exceeded This model's maximum context length is 8 tokens")
    )
    assert failed.ending is Ending.ERROR
    assert failed.message is not None
    assert "maximum context length is 8 tokens" in failed.message
    assert conversation.types()[-2:] == ["error", "task_complete"]
    assert conversation.ask("say on").message == "on"


def test_reasoning_goes_back_to_the_model_that_wants_it(tmp_path: Path, server: ModelServer) -> None:
    with harness_at(tmp_path, server.base_url, "responses") as harness:
        conversation = harness.talk()
        conversation.ask("reason part one | part two; say done")
        assert [one.text for one in conversation.all(ev.AgentReasoning)] == ["part one", "part two"]
        conversation.ask("say on")
    kinds = [item["type"] for item in server.requests[-1].body["input"]]
    assert kinds == ["message", "message", "reasoning", "message", "message"]


@pytest.mark.parametrize(
    ("top", "shown"),
    [("", []), ("show_raw_agent_reasoning = true", ["raw thoughts"]), ("hide_agent_reasoning = true", [])],
)
def test_raw_reasoning_is_shown_only_where_the_config_says_so(
    tmp_path: Path, server: ModelServer, top: str, shown: list[str]
) -> None:
    with harness_at(tmp_path, server.base_url, top=top) as harness:
        conversation = harness.talk()
        conversation.ask("think raw thoughts; say done")
        assert [one.text for one in conversation.all(ev.AgentReasoningRawContent)] == shown
        streamed = "".join(one.delta for one in conversation.all(ev.AgentReasoningRawContentDelta))
        assert "raw thoughts".startswith(streamed)
        assert not streamed or shown
    assert talk(server) == [("user", "think raw thoughts; say done")]


def test_hidden_reasoning_is_not_shown_but_kept_for_the_model(tmp_path: Path, server: ModelServer) -> None:
    with harness_at(tmp_path, server.base_url, "responses", top="hide_agent_reasoning = true") as harness:
        conversation = harness.talk()
        conversation.ask("reason secret; say done")
        conversation.ask("say on")
        assert not conversation.all(ev.AgentReasoning) + conversation.all(ev.AgentReasoningDelta)
    assert "reasoning" in [item["type"] for item in server.requests[-1].body["input"]]
