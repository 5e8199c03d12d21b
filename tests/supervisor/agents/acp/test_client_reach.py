"""Greenroom's own keys and logs, asked for by a third-party agent through us, in every way: it gets none of them.

A write is judged before anything of it is said, because its beginning shows what is in the file.
"""

from itertools import count, product
from pathlib import Path

import pytest

from actors.vocabulary import events as ev
from actors.vocabulary.items import LocalImageItem
from actors.vocabulary.settings import ApprovalPolicy, DangerFullAccess, ReadOnly, WorkspaceWrite
from supervisor.journal.export import export
from tests.supervisor.agents.acp.scripted import scripted, talk_with
from tests.support.engine_harness import EngineHarness, Talk
from tests.support.planted import MARKER, NAMES, got_out, plant
from tests.support.work import agent_call_of

SANDBOXES = (ReadOnly(), WorkspaceWrite(), DangerFullAccess())
ELSEWHERE = {"home", "address"}  # names that an agent's writes take to the letter: files of the directory


def nothing_got_out(harness: EngineHarness, planted: tuple[Path, ...], talk: Talk, log: str) -> None:
    seen = [f"{one.event!r}" for one in harness.recorder.seen]
    exported = export(harness.engine.journal, talk.conversation)
    assert [place[:2000] for place in got_out(harness.environ, planted, *seen, *exported, log)] == []


@pytest.mark.parametrize("sandbox", SANDBOXES, ids=[one.mode for one in SANDBOXES])
@pytest.mark.parametrize("policy", ApprovalPolicy)
def test_an_agent_is_shown_no_file_of_ours_by_any_name(
    tmp_path: Path,
    capfd: pytest.CaptureFixture[str],
    sandbox: ReadOnly | WorkspaceWrite | DangerFullAccess,
    policy: ApprovalPolicy,
) -> None:
    with scripted(tmp_path) as harness:
        planted, targets = plant(harness.environ), count(list(ApprovalPolicy).index(policy))
        talk = talk_with(harness, sandbox=sandbox, approval_policy=policy)
        folder = harness.workspace

        def name_of(way: str) -> str:
            return NAMES[way](planted[next(targets) % len(planted)], folder, harness.home)

        before = [file.read_bytes() for file in planted]
        for way, name in product(("lines 1 99 {}", "write {}: words"), NAMES):
            if "write" in way and name in ELSEWHERE:
                continue
            talk.ask(way.format(name_of(name)))
        talk.ask("echo", *(LocalImageItem(path=folder / name_of(name)) for name in NAMES))
        assert [file.read_bytes() for file in planted] == before
        nothing_got_out(harness, planted, talk, capfd.readouterr().out)


def test_a_write_outside_of_the_sandbox_tells_nothing_of_what_is_in_the_file(tmp_path: Path) -> None:
    outside = tmp_path / "letter"
    outside.write_text(f"{MARKER}\n")
    with scripted(tmp_path) as harness:
        talk = talk_with(harness, sandbox=WorkspaceWrite(exclude_slash_tmp=True, exclude_tmpdir_env_var=True))
        (harness.workspace / "door").symlink_to(tmp_path)
        for name in (str(outside), "door/letter", "../letter"):
            talk.ask(f"write {name}: words")
        assert [one.status for one in talk.all(ev.WorkEnded)] == ["failed"] * 3
        assert [(agent_call_of(one).sort, one.subject.kind) for one in talk.all(ev.WorkBegan)] == [
            ("edit", "other")
        ] * 3
        assert MARKER not in f"{harness.recorder.seen}"
    assert outside.read_text() == f"{MARKER}\n"
