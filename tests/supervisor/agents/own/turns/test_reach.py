"""Greenroom's own keys and logs, asked for in every way in which something is read for a model: it gets none of them.

The check is by what is there afterwards: what the model was sent, every file of the home, the export, the client's
events, what was written to the log.
"""

import json
from collections.abc import Callable, Iterator
from itertools import count, product
from pathlib import Path

import pytest

from actors.vocabulary import events as ev
from actors.vocabulary.items import LocalImageItem
from actors.vocabulary.settings import ApprovalPolicy, DangerFullAccess, ReadOnly, SandboxPolicy, WorkspaceWrite
from supervisor.journal.export import export
from supervisor.paths import locate
from tests.support.engine_harness import EngineHarness, Talk
from tests.support.model_server import ModelServer
from tests.support.planted import MARKER, NAMES, PICTURE, got_out, plant

SANDBOXES: tuple[SandboxPolicy, ...] = (ReadOnly(), WorkspaceWrite(), DangerFullAccess())
POLICIES = tuple(product(SANDBOXES, ApprovalPolicy))


def _patch(lines: str) -> Callable[[str], str]:
    text = f"*** Begin Patch\n{lines}\n*** End Patch"
    return lambda name: f"call apply_patch {json.dumps({'input': text.replace('NAME', name)})}"


def _tool(tool: str, **more: object) -> Callable[[str], str]:
    return lambda name: f"call {tool} {json.dumps({'path': name, **more})}"


CALLS = {
    "read": _tool("read_file"),
    "list": _tool("list_dir"),
    "view": _tool("view_image"),
    "update that does not fit": _patch("*** Update File: NAME\n@@\n-no such line\n+x"),
    "update that fits": _patch(f'*** Update File: NAME\n@@\n-{{"SOME_API_KEY": "{MARKER[:9]}"}}\n+x'),
    "add": _patch("*** Add File: NAME\n+x"),
    "delete": _patch("*** Delete File: NAME"),
    "move away": _patch("*** Update File: NAME\n*** Move to: mine\n@@\n+x"),
    "move there": _patch("*** Update File: notes\n*** Move to: NAME\n@@\n-text\n+x"),
}
MAKES_FILES = {"add", "move there"}
MEANS_ANOTHER = {"home", "address"}  # names that patches take to the letter: a file of the directory


@pytest.fixture
def planted(harness: EngineHarness) -> tuple[Path, ...]:
    return plant(harness.environ)


def nothing_got_out(
    harness: EngineHarness, server: ModelServer, planted: tuple[Path, ...], talks: list[Talk], log: str = ""
) -> None:
    sent = [json.dumps(request.body) for request in server.requests]
    seen = [f"{one.event!r}" for one in harness.recorder.seen]
    exported = [line for talk in talks for line in export(harness.engine.journal, talk.conversation)]
    assert sent, "the model was asked"
    assert [place[:2000] for place in got_out(harness.environ, planted, *sent, *seen, *exported, log)] == []


def folder_in(harness: EngineHarness) -> Path:
    folder = harness.workspace / f"w{len(list(harness.workspace.iterdir()))}"
    (folder / "sub").mkdir(parents=True)
    (folder / "notes").write_text("text\n")
    return folder


@pytest.mark.parametrize(("sandbox", "policy"), POLICIES, ids=[f"{one.mode}-{two}" for one, two in POLICIES])
def test_no_tool_shows_a_file_of_ours_by_any_name(
    harness: EngineHarness,
    server: ModelServer,
    planted: tuple[Path, ...],
    capfd: pytest.CaptureFixture[str],
    sandbox: SandboxPolicy,
    policy: ApprovalPolicy,
) -> None:
    turned = POLICIES.index((sandbox, policy))
    folder, targets = folder_in(harness), count(turned)
    names = [
        (CALLS[call], NAMES[name](planted[next(targets) % len(planted)], folder, harness.home))
        for call, name in product(CALLS, NAMES)
        if not (call in MAKES_FILES and name in MEANS_ANOTHER)
    ]
    talk = harness.talk(cwd=folder, sandbox=sandbox, approval_policy=policy)
    calls = [call(name) for call, name in names]
    talk.ask("; ".join([*calls[:100], "then", *calls[100:], "then", "say done"]))
    outputs = talk.all(ev.ToolOutput)
    assert len(outputs) == len(names)
    assert not talk.all(ev.ApprovalRequested), "nobody is asked about what is refused"
    nothing_got_out(harness, server, planted, [talk], capfd.readouterr().out)


@pytest.mark.parametrize("file", ["journal_file", "log_file", "search_file", "seal_file", "socket"])
def test_no_tool_shows_the_journal_or_what_else_the_daemon_keeps_there(
    harness: EngineHarness, server: ModelServer, file: str
) -> None:
    folder, target = folder_in(harness), Path(getattr(locate(harness.environ), file))
    target.parent.mkdir(parents=True, exist_ok=True)
    names = [
        name(target, folder, harness.home) for way, name in NAMES.items() if way not in {*MEANS_ANOTHER, "hard link"}
    ]
    calls = [call(name) for name in names for way, call in CALLS.items()]
    talk = harness.talk(cwd=folder)
    talk.ask("; ".join([*calls[:100], "then", *calls[100:], "then", "say done"]))
    outputs = [one.output for one in talk.all(ev.ToolOutput)]
    assert len(outputs) == len(calls)
    refused = ("belongs to Greenroom itself", "is a symbolic link to", "there is no")
    assert [one for one in outputs if not any(why in one for why in refused)] == []
    assert "SQLite format" not in json.dumps([request.body for request in server.requests])


def test_a_search_passes_over_what_is_ours(
    harness: EngineHarness, server: ModelServer, planted: tuple[Path, ...]
) -> None:
    folder = folder_in(harness)
    names = [name(secret, folder, harness.home) for secret in planted for name in NAMES.values()]
    calls = [f"call grep {json.dumps({'pattern': 'sk-', 'path': name})}" for name in (*names[::7], str(harness.home))]
    talk = harness.talk(cwd=folder)
    talk.ask("; ".join([*calls, "then", "say done"]))
    nothing_got_out(harness, server, planted, [talk])


GUIDES = ("AGENTS.md", ".agents/skills/told/SKILL.md", ".claude/skills/told/SKILL.md")


@pytest.mark.parametrize("place", GUIDES)
@pytest.mark.parametrize("deep", [False, True], ids=["in the directory", "at the root of its repository"])
def test_no_guide_and_no_skill_shows_a_file_of_ours(
    harness: EngineHarness, server: ModelServer, planted: tuple[Path, ...], place: str, deep: bool
) -> None:
    talks = []
    for number, name in enumerate(NAMES.values()):
        sandbox, policy = POLICIES[number % len(POLICIES)]
        folder = folder_in(harness)
        if deep:
            (folder / ".git").write_text("gitdir: elsewhere\n")
        file = folder / place
        file.parent.mkdir(parents=True, exist_ok=True)
        file.symlink_to(name(planted[number % 2], file.parent, harness.home))
        talks.append(harness.talk(cwd=folder / "sub" if deep else folder, sandbox=sandbox, approval_policy=policy))
        talks[-1].ask("say done")
    nothing_got_out(harness, server, planted, talks)


def test_a_guide_of_the_project_that_leads_out_of_it_is_left_out_and_a_person_is_told_once(
    harness: EngineHarness, server: ModelServer
) -> None:
    folder, letter = folder_in(harness), harness.home / "letter"
    letter.write_text(MARKER)
    (folder / ".git").write_text("gitdir: elsewhere\n")
    (folder / "AGENTS.md").symlink_to("../../letter")
    (folder / "sub" / "AGENTS.md").symlink_to("../notes")
    talk = harness.talk(cwd=folder / "sub")
    talk.ask("say one")
    talk.ask("say two")
    assert MARKER not in json.dumps([request.body for request in server.requests])
    assert "text" in next(one for one in talk.all(ev.UserMessage) if "user_instructions" in one.kind).message
    told = [one.message for one in talk.all(ev.BackgroundEvent)]
    way_out = "put a copy in its place if models are to read it"
    why = f"{folder}/AGENTS.md leads out of the project, to {letter}; {way_out}"
    assert told == [f"the model does not get a file: {why}"]


def test_the_persons_own_guide_and_skills_may_be_links(harness: EngineHarness, server: ModelServer) -> None:
    kept = harness.home / "dotfiles"
    kept.mkdir()
    (kept / "AGENTS.md").write_text("mine, kept elsewhere")
    (kept / "SKILL.md").write_text("---\nname: mine\ndescription: kept elsewhere, too\n---\n")
    (harness.home / "config" / "AGENTS.md").symlink_to(kept / "AGENTS.md")
    skill = harness.home / ".claude" / "skills" / "mine"
    skill.mkdir(parents=True)
    (skill / "SKILL.md").symlink_to(kept / "SKILL.md")
    harness.talk(cwd=folder_in(harness)).ask("say done")
    sent = json.dumps(server.requests[-1].body)
    assert "mine, kept elsewhere" in sent
    assert "kept elsewhere, too" in sent


@pytest.mark.parametrize("at_once", [True, False], ids=["sent", "read again from the history"])
def test_no_picture_of_ours_is_sent(
    harness: EngineHarness, server: ModelServer, planted: tuple[Path, ...], at_once: bool
) -> None:
    folder, picture = folder_in(harness), planted[-1]
    (folder / "seen.png").write_bytes(PICTURE.replace(MARKER.encode(), b""))
    names = [name(picture, folder, harness.home) for name in NAMES.values()]
    talk = harness.talk(cwd=folder)
    if at_once:
        talk.ask("say done", *(LocalImageItem(path=Path(name)) for name in names))
    else:
        (folder / "later.png").write_bytes((folder / "seen.png").read_bytes())
        talk.ask("say done", LocalImageItem(path=Path("later.png")))
        (folder / "later.png").unlink()
        (folder / "later.png").symlink_to(picture)
        harness.restart()
        talk.ask("say done")
    nothing_got_out(harness, server, planted, [talk])


def test_a_file_swapped_between_check_and_reading_is_not_read(
    harness: EngineHarness, server: ModelServer, planted: tuple[Path, ...], monkeypatch: pytest.MonkeyPatch
) -> None:
    """A folder becomes a link to ours after each judgement, and is a folder again before the next."""
    from supervisor.work.reach.readable import Reach

    folder, swaps = folder_in(harness), 0
    (folder / "sub" / "keys.json").write_text("harmless\n")
    judge = Reach.check

    def swapped(reach: Reach, real: Path, name: str) -> None:
        nonlocal swaps
        judge(reach, real, name)
        if real == folder / "sub" / "keys.json":
            swaps += 1
            (folder / "sub").rename(folder / "kept")
            (folder / "sub").symlink_to(planted[0].parent)

    def again() -> Iterator[str]:
        for call in (CALLS["read"], CALLS["view"], CALLS["update that does not fit"]):
            if (folder / "kept").exists():
                (folder / "sub").unlink()
                (folder / "kept").rename(folder / "sub")
            yield call("sub/keys.json")

    monkeypatch.setattr(Reach, "check", swapped)
    talk = harness.talk(cwd=folder)
    for call in again():
        talk.ask(f"{call}; then; say done")
    assert swaps == 3
    nothing_got_out(harness, server, planted, [talk])
