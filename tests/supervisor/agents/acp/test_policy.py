"""The mode that an agent is set to: one in which it asks, whatever it brings, unless something confines it."""

from pathlib import Path
from typing import Any

import pytest

from actors.vocabulary.agent_events import AgentOption, OptionChoice
from actors.vocabulary.settings import (
    ApprovalPolicy,
    DangerFullAccess,
    ReadOnly,
    ReasoningEffort,
    SandboxPolicy,
    Settings,
    WorkspaceWrite,
)
from supervisor.agents.acp.agent_options import ModeRefused, unrestricted_mode, wishes
from supervisor.config.agent_definitions import AgentDefinition


def option(value: str, *choices: str, category: str = "mode", name: str = "") -> AgentOption:
    offered = tuple(OptionChoice(value=one, name=one.title()) for one in choices)
    return AgentOption(id=name or category, category=category, value=value, choices=offered)


def settings(sandbox: SandboxPolicy | None = None, **more: Any) -> Settings:
    return Settings(model="m", cwd=Path("/w"), sandbox=sandbox or WorkspaceWrite(), **more)


def agent(name: str = "claude", **more: Any) -> AgentDefinition:
    return AgentDefinition(name, name, (f"/bin/{name}",), **more)


CLAUDE = ("default", "acceptEdits", "plan", "auto", "bypassPermissions")
ZED = ("read-only", "auto", "full-access")
CODEX = ("read-only", "workspace-write", "agent", "agent-full-access")
GEMINI = ("default", "autoEdit", "yolo", "plan")


@pytest.mark.parametrize(
    ("name", "brings", "offers", "asks", "reads"),
    [
        ("claude", "bypassPermissions", CLAUDE, "default", "plan"),
        ("codex", "full-access", ZED, "auto", "read-only"),
        ("codex", "agent", CODEX, "workspace-write", "read-only"),
        ("gemini", "yolo", GEMINI, "default", "plan"),
        ("qwen", "yolo", GEMINI, "default", "plan"),
        ("opencode", "build", ("build", "plan"), "build", "plan"),
        ("nobody", "yolo", ("edit", "yolo"), "edit", "edit"),
        ("nobody", "Full Access", ("Full Access", "Manual", "Read Only"), "Manual", "Read Only"),
        ("nobody", "code", ("code", "chat"), "code", "code"),
    ],
)
def test_an_agent_asks_and_in_a_read_only_sandbox_it_only_reads(
    name: str, brings: str, offers: tuple[str, ...], asks: str, reads: str
) -> None:
    offered, defined = [option(brings, *offers)], agent(name, confine="none")
    assert [one.value for one in wishes(defined, settings(), offered)] == [asks]
    assert [one.value for one in wishes(defined, settings(ReadOnly()), offered)] == [reads]


def test_codex_keeps_the_mode_that_our_sandbox_was_made_for_while_it_is_in_it() -> None:
    offered = [option("full-access", *ZED)]
    assert list(wishes(agent("codex"), settings(), offered)) == []
    assert unrestricted_mode(agent("codex"), settings(), offered) == ""
    assert [one.value for one in wishes(agent("codex"), settings(DangerFullAccess()), offered)] == ["auto"]


def test_an_agent_that_only_has_a_mode_without_questions_is_in_it_for_free() -> None:
    offered = [option("yolo", "yolo")]
    (wish,) = wishes(agent("nobody"), settings(), offered)
    assert wish.trouble == "none of its modes asks first"
    assert unrestricted_mode(agent("nobody"), settings(), offered) == "yolo"
    assert unrestricted_mode(agent("nobody", mode="yolo"), settings(), offered) == ""


def test_a_mode_without_questions_may_be_chosen_where_a_sandbox_confines_the_agent() -> None:
    offered, chosen = [option("default", *CLAUDE)], agent(mode="bypassPermissions")
    assert [one.value for one in wishes(chosen, settings(), offered)] == ["bypassPermissions"]


@pytest.mark.parametrize(
    ("confine", "sandbox"), [("none", WorkspaceWrite()), ("workspace", DangerFullAccess()), ("none", ReadOnly())]
)
@pytest.mark.parametrize("way", [{"mode": "bypassPermissions"}, {"config_options": {"mode": "bypassPermissions"}}])
def test_it_is_refused_where_nothing_does_unless_the_policy_is_to_ask_nobody(
    confine: str, sandbox: SandboxPolicy, way: dict[str, Any]
) -> None:
    offered, chosen = [option("default", *CLAUDE)], agent(confine=confine, **way)
    with pytest.raises(ModeRefused, match="nobody is asked"):
        list(wishes(chosen, settings(sandbox), offered))
    never = settings(sandbox, approval_policy=ApprovalPolicy.NEVER)
    assert "bypassPermissions" in [one.value for one in wishes(chosen, never, offered)]


def test_the_model_and_the_effort_that_a_person_chose_are_set_where_they_are_offered() -> None:
    offered = [
        option("small", "small", "Large", category="model"),
        option("medium", "medium", "high", category="thought_level", name="effort"),
    ]
    chosen = settings(agent_model="large", effort=ReasoningEffort.HIGH)
    assert [(one.option.id, one.value) for one in wishes(agent(), chosen, offered)] == [
        ("model", "Large"),
        ("effort", "high"),
    ]
    assert list(wishes(agent(), settings(), offered)) == []


def test_an_effort_that_only_the_agent_knows_is_set_and_so_is_a_medium_one_that_was_named() -> None:
    offered = [option("high", "medium", "high", "ultra", category="thought_level", name="effort")]
    for named in ("ultra", "medium"):
        (wish,) = wishes(agent(), settings(agent_effort=named), offered, {"effort": "high"})
        assert (wish.option.id, wish.value) == ("effort", named)


def test_an_option_that_is_not_offered_is_named_with_those_that_are() -> None:
    offered = [option("small", "small", "large", category="model")]
    (huge,) = wishes(agent(), settings(agent_model="huge"), offered)
    assert huge.trouble == "model = 'huge' is not offered; there is small, large"
    (none,) = wishes(agent(), settings(agent_model="huge"), [])
    assert none.trouble == "it offers no choice of a model"
    (absent,) = wishes(agent(config_options={"fast": "on"}), settings(), [])
    assert absent.trouble == "it has no option 'fast'"
