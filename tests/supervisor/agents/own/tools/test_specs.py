"""The tools as models read them: what they may ask for, and a grammar for those that have never seen it."""

from pathlib import Path

import pytest

from actors.vocabulary.settings import ApprovalPolicy, ReadOnly, Settings, WorkspaceWrite
from supervisor.agents.own.tools.patch_grammar import PATCH_GRAMMAR
from supervisor.agents.own.tools.specs import patch, shell
from supervisor.agents.own.tools.time_limit import time_limit
from supervisor.config.bounds import Bounds
from supervisor.work.patch.grammar import AddFile, DeleteFile, UpdateFile, parse


def settings(model: str = "qwen3-coder:30b") -> Settings:
    return Settings(model=model, cwd=Path("/w"))


def test_the_patch_in_the_explanation_is_one_that_can_be_read() -> None:
    text = PATCH_GRAMMAR[PATCH_GRAMMAR.index("*** Begin") : PATCH_GRAMMAR.index("*** End Patch") + 13]
    added, updated, deleted = parse(text)
    assert isinstance(added, AddFile)
    assert isinstance(updated, UpdateFile)
    assert isinstance(deleted, DeleteFile)
    assert updated.chunks[0].old == ("    # an unchanged line begins with a blank", '    print("hi")')


@pytest.mark.parametrize("model", ["qwen3-coder:30b", "claude-sonnet-4-5", "deepseek-chat", "my-gpt-5"])
def test_a_model_that_was_not_trained_on_patches_is_told_their_grammar(model: str) -> None:
    assert "*** Begin Patch\n" in patch(settings(model)).description


@pytest.mark.parametrize("model", ["gpt-5", "gpt-5-codex", "openai/gpt-4.1-mini", "gpt-oss:20b", "o4-mini"])
def test_a_model_that_was_trained_on_patches_is_told_it_in_a_line(model: str) -> None:
    assert patch(settings(model)).description == "Edits files by a patch."


def test_tools_are_described_once_until_the_settings_or_the_limits_are_others() -> None:
    first, long = shell(settings(), Bounds()), Bounds(command_timeout_ms=240_000)
    assert shell(settings("another"), Bounds()) is first
    assert "240000" in shell(settings(), long).parameters["properties"]["timeout"]["description"]
    assert shell(settings().model_copy(update={"sandbox": WorkspaceWrite()}), Bounds()) is not first
    assert patch(settings()) is patch(settings())


def test_a_model_is_told_how_long_its_commands_may_take() -> None:
    told = shell(settings(), Bounds()).parameters["properties"]["timeout"]["description"]
    assert told == "Milliseconds until it is ended; 120000 if you name none, at most 1800000."


def test_a_model_is_told_of_git_where_it_would_be_asked_about() -> None:
    told = [
        "changes history" in shell(settings().model_copy(update=update), Bounds()).description
        for update in (
            {"sandbox": WorkspaceWrite()},
            {"sandbox": WorkspaceWrite(), "approval_policy": ApprovalPolicy.NEVER},
            {"sandbox": ReadOnly()},
        )
    ]
    assert told == [True, False, False]


def test_a_default_above_the_most_counts_as_the_most() -> None:
    bounds = Bounds(command_timeout_ms=500, command_timeout_most_ms=100)
    assert [time_limit(asked, bounds).ms for asked in (None, 300, 900)] == [500, 300, 500]
    assert [time_limit(asked, bounds).cap_notice is None for asked in (None, 300, 900)] == [True, True, False]
