"""Turns that the scripted agent carries out, in a whole engine."""

from collections.abc import Sequence
from pathlib import Path

import pytest

from actors.vocabulary import events as ev
from actors.vocabulary.agent_events import AgentSession
from actors.vocabulary.errors import JournalError
from actors.vocabulary.records import Append
from supervisor.journal.store import SqliteJournal
from tests.supervisor.agents.acp.scripted import scripted, talk_with


def test_a_turn_says_what_the_agent_says_and_the_session_is_an_event(tmp_path: Path) -> None:
    with scripted(tmp_path) as harness:
        talk = talk_with(harness)
        talk.ask("say hello")
        began = talk.wait(AgentSession)
        assert (began.agent, began.how, began.program) == ("scripted", "new", "scripted 1.0")
        talk.ask("memory")
        assert [one.message for one in talk.all(ev.AgentMessage)] == ["hello", "I remember 2 messages"]


def test_a_short_turn_is_two_commits_its_message_and_its_end_with_the_last_words(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    commits: list[Sequence[Append]] = []
    commit = SqliteJournal.commit

    def counted(journal: SqliteJournal, appends: Sequence[Append]) -> list[JournalError | None]:
        commits.append(appends)
        return commit(journal, appends)

    with scripted(tmp_path) as harness:
        talk = talk_with(harness)
        talk.ask("say one")
        monkeypatch.setattr(SqliteJournal, "commit", counted)
        talk.ask("say two")
        assert len(commits) == 2
