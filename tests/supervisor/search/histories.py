"""A journal with words in it, and a search file beside it."""

import json
from pathlib import Path

from actors.vocabulary.ids import ConversationId, TurnId
from actors.vocabulary.records import Append, Head, Record
from supervisor.journal import SqliteJournal
from supervisor.search.index import SearchIndex
from tests.supervisor.journal.sample import head
from transports.supervisor_answers import SearchHit, SearchHits
from transports.supervisor_requests import Search

Event = dict[str, object]


def user(text: str) -> Event:
    return {"type": "user_message", "message": text, "kind": "plain"}


def agent(text: str) -> Event:
    return {"type": "agent_message", "message": text, "item_id": "1"}


def command(*words: str) -> Event:
    return {"type": "work_began", "subject": {"kind": "command", "command": list(words)}, "call_id": "c"}


def output(stdout: str, stderr: str = "") -> Event:
    written = {"output": stdout, "errors": stderr}
    return {"type": "work_ended", "kind": "command", "status": "completed", **written, "call_id": "c"}


def renamed(name: str) -> Event:
    return {"type": "conversation_renamed", "name": name}


class Histories:
    """The journal and its search. `key` of a deleted conversation goes to the search, as the engine does it."""

    def __init__(self, directory: Path) -> None:
        self.journal_file, self.search_file = directory / "journal.sqlite3", directory / "search.sqlite3"
        self.index = SearchIndex(self.search_file, self.journal_file)
        self.journal = SqliteJournal(self.journal_file, forgotten=lambda _, key: self.index.forget(key))
        self._ends: dict[ConversationId, int] = {}

    def say(self, one: ConversationId, *events: Event, ts: float | None = None) -> None:
        first = self._ends.get(one, 0) + 1
        records = tuple(record(seq, event, ts) for seq, event in enumerate(events, first))
        self._ends[one] = records[-1].seq
        stored = self.journal.commit([Append(one, records, self.head(one), durable=False)])
        assert stored == [None]

    def head(self, one: ConversationId) -> Head:
        return head(one, self._ends[one], checkpoint_seq=self._ends[one])

    def read_all(self) -> int:
        """Follow the journal to its end. How many pieces that took."""
        pieces = 1
        while self.index.step():
            pieces += 1
        return pieces

    def find(self, words: str, **more: object) -> SearchHits:
        return self.index.search(Search(words, **more))  # type: ignore[arg-type]  # as the test names them

    def hits(self, words: str, **more: object) -> list[tuple[ConversationId, int]]:
        return [place(hit) for hit in self.find(words, **more).hits]

    def close(self) -> None:
        self.index.close()
        self.journal.close()


def place(hit: SearchHit) -> tuple[ConversationId, int]:
    return hit.conversation, hit.seq


def record(seq: int, event: Event, ts: float | None = None) -> Record:
    body = json.dumps(event, ensure_ascii=False).encode()
    return Record(seq, 1000.0 + seq if ts is None else ts, TurnId("t"), str(event["type"]), body)
