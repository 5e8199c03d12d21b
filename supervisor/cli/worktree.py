"""`greenroom worktree`, and the worktree of a new conversation."""

import os
import re
import sys
from argparse import Namespace
from collections.abc import Iterator
from contextlib import contextmanager

from greenroom.answers import ConversationRow
from supervisor.cli import worktree_git as git
from supervisor.cli.kit import ids
from supervisor.cli.kit.client import Control
from supervisor.cli.kit.conversation_rows import home
from supervisor.cli.kit.formatting import plural
from supervisor.cli.kit.json_output import json_text
from supervisor.cli.kit.listing import ListLayout, present
from supervisor.cli.kit.problems import Problem
from supervisor.cli.kit.suggestions import advice_on_word
from supervisor.cli.kit.table import Column, Row

# ruff: noqa: PTH100, PTH109, PTH112 # pathlib is slow to import

WORDS = 4  # of the prompt, in a name that is made from it
LONGEST = 40  # characters of such a name
BUSY = ("starting", "running", "waiting", "interrupting")


def _state(row: Row) -> str:
    changed = f"{row['uncommitted']} uncommitted" if row["uncommitted"] else ""
    ahead = f"{plural(row['ahead'], 'commit')} ahead" if row["ahead"] else ""
    return ", ".join(filter(None, (changed, ahead))) or "nothing new"


WORKTREES = ListLayout(
    {
        "worktree": "Its name.",
        "path": "Its directory.",
        "branch": "The branch that is checked out in it.",
        "repository": "The repository that it belongs to; empty if that is gone.",
        "uncommitted": "Files in it that are changed or new, and not committed.",
        "ahead": "Commits that the repository's checked-out branch doesn't have.",
        "conversations": "The conversations that work in it.",
    },
    (
        Column("WORKTREE", lambda row: row["worktree"], style=lambda _: ("cyan",)),
        Column("BRANCH", lambda row: "" if row["branch"] == row["worktree"] else row["branch"]),
        Column("REPOSITORY", lambda row: home(row["repository"]) or "gone", shrinks=True),
        Column("STATE", _state),
        Column("CONVERSATIONS", lambda row: ", ".join(map(ids.short_id, row["conversations"]))),
    ),
    "no conversation has a worktree; `greenroom run --worktree` makes one",
    key="worktree",
)


@contextmanager
def new_worktree(chosen: Namespace, prompt: str) -> Iterator[str | None]:
    """Make a worktree for the conversation that is created inside the block, and yield its name.

    If the block fails, the worktree is removed.
    """
    cwd = os.path.abspath(chosen.cwd or os.getcwd())
    if not os.path.isdir(cwd):
        yield None  # the missing directory is refused later
        return
    made = git.make_worktree(cwd, chosen.worktree or _name_from(prompt))
    chosen.cwd = git.matching_directory(made, cwd)
    try:
        yield made.name
    except BaseException:
        git.undo(made)
        raise
    left_behind = git.uncommitted_notice(cwd)
    print(f"greenroom: works in {home(chosen.cwd)}, on the branch {made.branch}", file=sys.stderr)
    if left_behind:
        print(f"greenroom: {left_behind}", file=sys.stderr)


def run(chosen: Namespace) -> int:
    what = chosen.what or "list"
    if (chosen.worktree is None) != (what == "list"):
        if chosen.worktree is None:
            raise Problem("no worktree is named", "`greenroom worktree` lists them", "usage")
        raise Problem(
            "a list is of all worktrees", f"`greenroom worktree merge {chosen.worktree}` merges one", "usage"
        )
    with Control("worktree") as control:
        if what == "list":
            return present(WORKTREES, lambda: _rows(control), chosen)
        worktree = _find_worktree(control, chosen.worktree)
        if what == "remove":
            _refuse_in_use(control, worktree)
        outcome = {"merge": git.merge, "remove": git.remove}[what](worktree)
    print(
        json_text({"worktree": worktree.name, "done": outcome})
        if chosen.json is not None
        else f"{worktree.name}: {outcome}"
    )
    return 0


def _rows(control: Control) -> list[Row]:
    conversations = control.conversations(archived=True)
    return [_row(worktree, conversations) for worktree in git.all_worktrees()]


def _row(worktree: git.Worktree, conversations: list[ConversationRow]) -> Row:
    changes = git.changes(worktree)
    return {
        "worktree": worktree.name,
        "path": worktree.path,
        "branch": worktree.branch,
        "repository": worktree.main,
        "uncommitted": changes.uncommitted_files,
        "ahead": changes.commits_ahead,
        "conversations": [found.conversation for found in _working_in(worktree, conversations)],
    }


def _working_in(worktree: git.Worktree, conversations: list[ConversationRow]) -> list[ConversationRow]:
    return [found for found in conversations if _is_inside(found.cwd, worktree)]


def _is_inside(cwd: str, worktree: git.Worktree) -> bool:
    return f"{cwd}/".startswith(f"{worktree.path}/")


def _find_worktree(control: Control, word: str) -> git.Worktree:
    """The worktree of this name, or else that of the conversation of this name."""
    known = list(git.all_worktrees())
    named = [worktree for worktree in known if word in {worktree.name, worktree.branch, worktree.path}]
    if len(named) > 1:
        raise Problem(
            f"{plural(len(named), 'worktree')} are called {word!r}", f"name one by its path: {named[0].path}", "usage"
        )
    if named:
        return named[0]
    try:
        conversation = ids.resolve_id(control, word)
    except Problem as problem:
        if problem.code != "unknown_conversation":
            raise
        advice = advice_on_word(word, (worktree.name for worktree in known), "`greenroom worktree` lists them")
        raise Problem(f"there is no worktree or conversation {word!r}", advice, "unknown_conversation") from problem
    (row,) = control.conversations_by_id([conversation])
    cwd = row.cwd
    for worktree in known:
        if _is_inside(cwd, worktree):
            return worktree
    raise Problem(
        f"{word} works in {home(cwd)}, which Greenroom has not made",
        "`git worktree list` shows others",
        "wrong_state",
    )


def _refuse_in_use(control: Control, worktree: git.Worktree) -> None:
    for found in _working_in(worktree, control.conversations(archived=True)):
        if found.state in BUSY:
            advice = f"`greenroom interrupt {ids.short_id(found.conversation)}` stops it"
            raise Problem(
                f"conversation {ids.short_id(found.conversation)} is at work in {worktree.name}", advice, "busy"
            )


def _name_from(prompt: str) -> str:
    """Make a name of the prompt's first words, with a random end that makes it unique."""
    words = re.findall(r"[a-z0-9]+", prompt.lower())[:WORDS]
    return "-".join((*words, os.urandom(2).hex()))[-LONGEST:].lstrip("-")
