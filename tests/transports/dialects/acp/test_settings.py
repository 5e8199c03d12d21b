"""Settings: chosen by a client, told to all, bounded by what a client may have."""

from pathlib import Path

import pytest

from actors.vocabulary import events as ev
from actors.vocabulary.ids import ConversationId
from actors.vocabulary.settings import ApprovalPolicy, ReadOnly, SandboxMode, Settings, WorkspaceWrite
from tests.transports.dialects.acp.peer import Editor, Json, daemon
from transports import supervisor_requests as ask
from transports.dialects.acp.settings import Offers, mode_of, options_of, values_for

WAYS: list[tuple[str, Json]] = [
    ("session/set_mode", {"modeId": "auto"}),
    ("session/set_config_option", {"configId": "mode", "value": "auto"}),
]


def options(told: list[Json]) -> dict[str, str]:
    return {one["id"]: one["currentValue"] for one in told}


@pytest.mark.parametrize(("method", "params"), WAYS)
def test_a_mode_that_is_chosen_is_told_to_all(method: str, params: Json) -> None:
    house = daemon()
    editor, other = Editor(house), Editor(house, "other", info="other")
    session = editor.new()
    other.result("session/load", sessionId=session, cwd="/w", mcpServers=[])
    editor.result(method, sessionId=session, **params)
    for one in (editor, other):
        (update,) = one.updates("config_option_update")
        now = options(update["configOptions"])
        assert (now["mode"], now["approval"], now["sandbox"]) == ("auto", "on-request", "workspace-write")
        assert one.updates("current_mode_update") == [
            {"sessionUpdate": "current_mode_update", "currentModeId": "auto"}
        ]
    (altered,) = [each for each in house.asked if isinstance(each, ask.AlterSettings)]
    assert altered.person == ask.Person()


def test_the_answer_to_a_chosen_option_has_all_of_them() -> None:
    house = daemon()
    editor = Editor(house)
    session = editor.new()
    result = editor.result("session/set_config_option", sessionId=session, configId="model", value="gpt-5-mini")
    assert options(result["configOptions"])["model"] == "gpt-5-mini"
    assert house.state(ConversationId(session)).facts.settings.model == "gpt-5-mini"
    result = editor.result("session/set_config_option", sessionId=session, configId="thought_level", value="high")
    assert options(result["configOptions"])["thought_level"] == "high"


@pytest.mark.parametrize(
    ("params", "told"),
    [
        ({"configId": "color", "value": "red"}, "there is no option 'color'; there are mode, model"),
        ({"configId": "thought_level", "value": "wild"}, "can't be 'wild'; it is one of minimal, low"),
        ({"configId": "sandbox", "value": "danger-full-access"}, "it is one of read-only, workspace-write"),
        ({"configId": "mode", "value": "yolo"}, "there is no mode 'yolo'; there are read-only, ask, auto"),
        ({"configId": "mode", "value": True, "type": "boolean"}, "takes a text"),
    ],
)
def test_an_unknown_option_is_refused_with_the_known_ones(params: Json, told: str) -> None:
    editor = Editor(daemon())
    error = editor.error("session/set_config_option", sessionId=editor.new(), **params)
    assert error["code"] == -32602
    assert told in error["message"]


def test_wider_sandboxes_are_offered_where_a_client_may_have_them() -> None:
    editor = Editor(daemon(), widest=SandboxMode.DANGER_FULL_ACCESS)
    told = editor.result("session/new", cwd="/w", mcpServers=[])
    assert [one["id"] for one in told["modes"]["availableModes"]][-1] == "full-access"


def test_policies_that_are_no_preset_are_a_mode_of_their_own() -> None:
    settings = Settings(model="m", cwd=Path("/w"), approval_policy=ApprovalPolicy.NEVER, sandbox=ReadOnly())
    assert mode_of(settings) == "custom"
    (mode, *_) = options_of(settings, Offers(), None)
    assert (mode.value, mode.choices[-1].value) == ("custom", "custom")


def test_the_models_and_levels_of_an_agent_of_others_are_its_own() -> None:
    choices = (ev.OptionChoice(value="opus", name="Opus"), ev.OptionChoice(value="haiku"))
    levels = (ev.OptionChoice(value="low"), ev.OptionChoice(value="medium"), ev.OptionChoice(value="ultra"))
    told = ev.AgentOptions(
        agent="claude",
        options=(
            ev.AgentOption(id="m", category="model", value="opus", choices=choices),
            ev.AgentOption(id="t", category="thought_level", value="low", choices=levels),
        ),
    )
    settings = Settings(model="m", cwd=Path("/w"), agent="claude", sandbox=WorkspaceWrite())
    offers = Offers(models=("gpt-5",), agents=(("greenroom", "Ours"), ("claude", "Claude Code")))
    found = {one.id: one for one in options_of(settings, offers, told)}
    assert [one.value for one in found["model"].choices] == ["opus", "haiku"]
    assert found["model"].value == "opus"
    assert [one.value for one in found["thought_level"].choices] == ["low", "medium", "ultra"]
    assert found["thought_level"].value == "low"
    assert values_for("thought_level", "ultra", tuple(found.values())) == {"effort": "ultra"}
    named = options_of(settings.model_copy(update={"agent_effort": "ultra"}), offers, told)
    assert {one.id: one.value for one in named}["thought_level"] == "ultra"
    assert found["agent"].value == "claude"
    silent = {one.id for one in options_of(settings, offers, None)}
    assert not {"model", "thought_level"} & silent
