"""`greenroom set`, and the same on `send` and `fork`: what changes, what is said of it, what is refused."""

import json
import os

import pytest

from actors.vocabulary.settings import ReasoningEffort
from supervisor.cli.setting import SETTINGS
from supervisor.cli.verbs import options
from tests.supervisor.cli.place import Place


def settings(place: Place, conversation: str) -> dict[str, object]:
    found: dict[str, object] = json.loads(place.said("inspect", conversation))["settings"]
    return found


@pytest.fixture
def quiet(place: Place) -> str:
    conversation = place.new("say x", "-m", "first", "--sandbox", "workspace-write", "--approval", "on-request")
    place.at_rest(conversation)
    return conversation


def test_all_that_is_named_changes_and_is_told_in_a_line_each(place: Place, quiet: str) -> None:
    said = place.said("set", quiet, "model=second", "approval=never", "sandbox=read-only", "name=renamed")
    assert said.splitlines() == [
        "model: first → second",
        "approval: on-request → never",
        "sandbox: workspace-write → read-only",
        "name: renamed",
    ]
    assert place.said("set", "renamed", "model=second") == "nothing changed: it is so already"
    place.run("set", "renamed", "name=")
    logs = place.said("logs", quiet)
    (line,) = [line for line in logs.splitlines() if "model: first → second; approval: on-request → never" in line]
    assert line.startswith("changed by greenroom set[")
    assert logs.count("changed by") == 1
    (row,) = [row for row in place.json("ls", "-a", "--json", "id,model") if row["id"] == quiet]
    assert row["model"] == "second"


def test_status_shows_every_setting_that_can_be_changed(place: Place, quiet: str) -> None:
    (place.work / "more").mkdir(exist_ok=True)
    place.run("set", quiet, "model=other", "effort=low", "approval=never", "writable_roots=more", "name=shown")
    lines = [line.split(maxsplit=1) for line in place.said("status", "shown").splitlines()[:12]]
    told = {line[0]: line[1] for line in lines}
    assert told["model"] == "other (demo), effort low"
    assert told["policy"] == "approvals never, sandbox workspace-write"
    assert told["also"].removeprefix("writes ").endswith(f"{place.work.name}/more")
    place.run("set", quiet, "writable_roots=:", "name=")
    assert "also writes" not in place.said("status", quiet)


def test_nothing_is_what_the_config_says(place: Place, quiet: str) -> None:
    place.run("set", quiet, "model=other", "effort=low", "sandbox=read-only")
    place.run("set", quiet, "model=", "effort=")
    now = settings(place, quiet)
    assert (now["model"], now["effort"], now["sandbox"]) == ("demo", "medium", {"mode": "read-only"})


def test_a_profile_gives_its_values_and_what_is_named_beside_it_wins(place: Place, quiet: str) -> None:
    config = place.home / "config.toml"
    before = config.read_text(encoding="utf-8")
    config.write_text(
        before + '[profiles.careful]\napproval_policy = "untrusted"\nmodel = "slow"\n', encoding="utf-8"
    )
    try:
        place.run("reload")
        place.run("set", quiet, "profile=careful", "model=quick")
        now = settings(place, quiet)
        assert (now["approval_policy"], now["model"]) == ("untrusted", "quick")
        refused = place.run("set", quiet, "profile=careless", "model=other", code=None)
        assert refused.returncode != 0
        assert "there is no profile 'careless'; the config has careful" in refused.stderr
        assert settings(place, quiet)["model"] == "quick"
    finally:
        config.write_text(before, encoding="utf-8")
        place.run("reload")


def test_writable_roots_are_the_clients_directories(place: Place, quiet: str) -> None:
    (place.work / "more").mkdir(exist_ok=True)
    place.run("set", quiet, "writable_roots=more")
    assert settings(place, quiet)["sandbox"]["writable_roots"] == [str(place.work / "more")]  # type: ignore[index]  # of a JSON object
    refused = place.run("set", quiet, f"writable_roots=more{os.pathsep}gone", code=None)
    assert f"there is no directory '{place.work / 'gone'}'; make it first" in refused.stderr
    place.run("set", quiet, "sandbox=read-only")
    refused = place.run("set", quiet, "writable_roots=more", code=None)
    assert "set sandbox=workspace-write too" in refused.stderr


def test_a_conversation_starts_with_the_writable_roots_that_run_names(place: Place) -> None:
    (place.work / "more").mkdir(exist_ok=True)
    write = ("run", "--sandbox", "workspace-write", "--approval", "never", "--writable-roots")
    place.run(*write, "more", "--name", "rooted", "say x")
    assert settings(place, "rooted")["sandbox"]["writable_roots"] == [str(place.work / "more")]  # type: ignore[index]  # of a JSON object
    refused = place.run(*write, "gone", "--name", "none", "say x", code=2)
    assert f"there is no directory '{place.work / 'gone'}'; make it first" in refused.stderr
    assert "none" not in [row["name"] for row in place.json("ls", "-a", "--json", "name")]
    refused = place.run("run", "--sandbox", "read-only", "--writable-roots", "more", "say x", code=2)
    assert "writable_roots: the sandbox is read-only" in refused.stderr


@pytest.mark.parametrize(
    ("word", "told"),
    [
        ("colour=red", "there is no setting 'colour'; the settings are model, provider, profile, effort, approval"),
        ("sandbox=open", "sandbox can't be 'open'; it is one of read-only, workspace-write, danger-full-access"),
        ("effort=much", "effort can't be 'much'; it is one of minimal, low"),
        ("provider=nobody", "Model provider `nobody` not found; expected one of openai, "),
        ("agent=nobody", "there is no agent 'nobody'; `greenroom agents` lists them"),
        ("model", "'model' is not a setting; write KEY=VALUE"),
    ],
)
def test_an_invalid_setting_is_refused_with_the_valid_ones_and_nothing_changes(
    place: Place, quiet: str, word: str, told: str
) -> None:
    before = settings(place, quiet)
    refused = place.run("set", quiet, "model=other", word, code=None)
    assert refused.returncode != 0
    assert told in refused.stderr
    assert len(refused.stderr.splitlines()) == 1
    assert settings(place, quiet) == before


def test_a_message_with_a_model_of_its_own_has_a_turn_of_its_own_and_the_next_has_the_old_one(
    place: Place, quiet: str
) -> None:
    place.run("send", quiet, "say y", "-m", "other", "--wait")
    place.run("send", quiet, "say z", "--wait")
    events = [json.loads(line) for line in place.said("logs", quiet, "--json", "-n", "100").splitlines()]
    own = [event["settings"] and event["settings"]["model"] for event in events if event["type"] == "task_started"]
    assert own == [None, "other", None]
    assert settings(place, quiet)["model"] == "first"


def test_a_fork_takes_other_settings_and_the_source_keeps_its_own(place: Place, quiet: str) -> None:
    fork = place.said("fork", quiet, "-m", "other", "--sandbox", "read-only")
    assert (settings(place, fork)["model"], settings(place, quiet)["model"]) == ("other", "first")
    assert settings(place, fork)["sandbox"] == {"mode": "read-only"}


def test_a_setting_survives_a_killed_daemon(place: Place, quiet: str) -> None:
    place.run("set", quiet, "model=kept", "effort=high")
    place.kill()
    place.run("up")
    now = settings(place, quiet)
    assert (now["model"], now["effort"]) == ("kept", "high")


def test_the_shell_completes_keys_and_values(place: Place) -> None:
    keys = place.said("__complete", "set", "@last", "").splitlines()
    assert [line.split("\t")[0] for line in keys] == [f"{key}=" for key in SETTINGS]
    values = place.said("__complete", "set", "@last", "sandbox=re").splitlines()
    assert [line.split("\t")[0] for line in values] == ["sandbox=read-only"]
    assert list(options.EFFORTS) == list(ReasoningEffort)


@pytest.mark.parametrize(
    ("words", "advice"),
    [
        ("approval_policy=never", "did you mean approval?"),
        ("model_reasoning_effort=low", "did you mean effort?"),
        ("model_provider=demo", "did you mean provider?"),
        ("Sandbox=read-only", "did you mean sandbox?"),
        ("cwd=/", "the settings are model, provider, "),
        ("effort=low effort=high", "effort is named twice; leave one of them out"),
    ],
)
def test_a_key_that_the_config_calls_otherwise_is_told_and_none_is_taken_twice(
    place: Place, quiet: str, words: str, advice: str
) -> None:
    assert advice in place.run("set", quiet, *words.split(), code=2).stderr


def test_run_has_the_options_for_the_model_that_send_and_fork_have(place: Place) -> None:
    conversation = place.new("say x", "--provider", "demo", "--effort", "low", "-c", "model_reasoning_effort=high")
    now = settings(place, conversation)
    assert (now["provider"], now["effort"]) == ("demo", "low")


def test_another_agent_is_chosen_by_name_and_has_a_model_of_its_own_only_if_one_is_named(
    place: Place, quiet: str
) -> None:
    program = place.work / "agent"
    program.touch(mode=0o755)
    config = place.home / "config.toml"
    before = config.read_text(encoding="utf-8")
    config.write_text(before + f'[agents.mine]\ncommand = "{program}"\n', encoding="utf-8")
    try:
        place.run("reload")
        assert place.said("set", quiet, "agent=mine").splitlines() == [
            "agent: greenroom → mine",
            "model: first → nothing",
        ]
        assert place.said("set", quiet, "model=big").splitlines() == ["model: nothing → big"]
        now = settings(place, quiet)
        assert (now["agent"], now["agent_model"], now["model"]) == ("mine", "big", "first")
        assert place.said("set", quiet, "agent=").splitlines() == ["agent: mine → greenroom", "model: big → first"]
        refused = place.run("set", quiet, "agent=claude", code=None)
        assert "claude-agent-acp or claude-code-acp is not on the PATH; install it with `npm" in refused.stderr
    finally:
        config.write_text(before, encoding="utf-8")
        place.run("reload")
