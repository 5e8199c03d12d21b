"""Tools that an agent uses and what it costs, as the journal and the ledger have them, in a whole engine."""

from pathlib import Path

import pytest

from actors.vocabulary import events as ev
from tests.supervisor.agents.acp.scripted import scripted, talk_with
from tests.support.work import subject_of


def test_a_command_and_an_edit_are_told_with_what_came_of_them(tmp_path: Path) -> None:
    with scripted(tmp_path) as harness:
        talk = talk_with(harness)
        talk.ask("run echo hi; then edit new.txt: words")
        ran, edited = talk.all(ev.WorkEnded)
        assert subject_of(ran, ev.CommandSubject).command[-1] == "echo hi"
        assert (ran.kind, ran.output.strip(), ran.status, edited.kind) == ("command", "hi", "completed", "files")
        assert [Path(path).name for path in subject_of(edited, ev.FilesSubject).changes] == ["new.txt"]
        assert len(talk.all(ev.WorkBegan)) == len(talk.all(ev.WorkEnded))


def test_the_cost_of_an_agent_is_entered_once_also_over_its_processes(tmp_path: Path) -> None:
    with scripted(tmp_path, f"sessions={tmp_path / 'sessions'}") as harness:
        talk = talk_with(harness)
        talk.ask("usage 10 100 0.5; then say one")
        talk.ask("usage 20 100 0.75; then say two")
        harness.restart()
        talk.ask("usage 20 100 0.25; then say three")
        counts = talk.all(ev.TokenCount)
        assert [one.cost_usd for one in counts] == [0.5, 0.25, 0.25]
        assert (counts[-1].provider, counts[-1].context_tokens, counts[-1].context_window) == ("scripted", 20, 100)
        assert talk.summary().usd == pytest.approx(1.0)
