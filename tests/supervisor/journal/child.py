"""A writer that is killed: run as `python -m tests.supervisor.journal.child PATH WHAT [ARGUMENT]`.

Says on stdout what is durable, a line each: `ok CONVERSATION SEQ`, or `no CONVERSATION SEQ CODE`.
"""

import os
import random
import sys
from pathlib import Path

from actors.vocabulary.errors import JournalError
from actors.vocabulary.records import Append
from supervisor.journal import Retention, SqliteJournal, schema
from supervisor.journal.schema import MIGRATIONS
from tests.supervisor.journal.sample import conversation, head, record, rows
from tests.supervisor.journal.test_opening import second_step
from tests.support.mortal import CrashPoint, arm

SPOKEN = 8  # conversations that are written to
PIECE_ROWS = 10  # of a migration that is to have many pieces


def say(append: Append, answer: JournalError | None) -> None:
    for one in append.records:
        verdict = (
            f"ok {append.conversation} {one.seq}"
            if answer is None
            else f"no {append.conversation} {one.seq} {answer.code}"
        )
        os.write(1, verdict.encode() + b"\n")


def text(number: int, seq: int) -> str:
    """A text so long that the log is moved into the file every few hundred commits."""
    return f"{number}.{seq}." + "z" * (seq * 37 % 3000)


def write(journal: SqliteJournal, rounds: int, seed: int) -> None:
    chance = random.Random(seed)
    lasts = {h.conversation: h.last_seq for h in rows(journal)}
    for _ in range(rounds):
        group = []
        for number in chance.sample(range(SPOKEN), chance.randint(1, SPOKEN)):
            of = conversation(number)
            last = lasts.get(of, 0)
            count = chance.randint(1, 3)
            new = tuple(record(seq, text(number, seq)) for seq in range(last + 1, last + count + 1))
            with_head = (
                head(of, last + count, checkpoint_seq=last + count) if last == 0 or chance.random() < 0.3 else None
            )
            group.append(Append(of, new, with_head, durable=chance.random() < 0.5))
        for append, answer in zip(group, journal.commit(group), strict=True):
            say(append, answer)
            if answer is None:
                lasts[append.conversation] = append.records[-1].seq


def main() -> None:
    path, what, argument = Path(sys.argv[1]), sys.argv[2], sys.argv[3]
    if what == "write":
        write(SqliteJournal(path), 1_000_000, int(argument))
    elif what == "few":
        journal = SqliteJournal(path)
        write(journal, int(argument), 1)
        journal.close()
    elif what in {CrashPoint.BEFORE_COMMIT, CrashPoint.AFTER_COMMIT}:
        journal = SqliteJournal(path)
        arm(CrashPoint(what), int(argument))
        write(journal, 100, 1)
    elif what == CrashPoint.IN_RETENTION:
        arm(CrashPoint(what), int(argument))
        journal = SqliteJournal(path)
        while journal.prune(1e6, Retention(max_events=3)):
            pass
    elif what == "migrate":
        schema.PIECE_ROWS, schema.TRANSACTION_S = PIECE_ROWS, 0.0
        arm(CrashPoint.IN_MIGRATION, int(argument))
        SqliteJournal(path)
    else:
        arm(CrashPoint(what), int(argument))
        SqliteJournal(path, (*MIGRATIONS, second_step))
    raise SystemExit("nobody killed it" if what not in {"few", "migrate"} else 0)


if __name__ == "__main__":
    main()
