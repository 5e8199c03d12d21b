"""Guesses at what a mistyped word was meant to be: a verb, an option, a value. None of them destroys anything."""

from collections.abc import Iterable

CUTOFF = 0.7  # of difflib; below it the words look alike to nobody
# Who writes one of these by mistake is not to be led to it: what they do can't be undone.
DESTROYING = frozenset({"rm", "remove", "drop", "uninstall", "down", "shutdown"})
# What other programs call it. The words say what there is here.
ELSEWHERE = {
    "resume": "`greenroom send` goes on with a conversation, `greenroom attach` watches it",
    "continue": "`greenroom send` goes on with a conversation, `greenroom attach` watches it",
    "show": "`greenroom logs` shows what was said, `greenroom inspect` all facts",
    "cat": "`greenroom logs` shows what was said",
    "history": "`greenroom logs` shows what was said",
    "kill": "`greenroom interrupt` stops a turn and keeps the conversation",
    "cancel": "`greenroom interrupt` stops a turn and keeps the conversation",
    "abort": "`greenroom interrupt` stops a turn and keeps the conversation",
    "diff": "no verb shows changes; `greenroom logs` shows each patch, `git diff` in its directory what came of them",
    "list": "`greenroom ls` lists conversations",
    "start": "`greenroom run` starts a conversation, `greenroom up` the daemon",
    "new": "`greenroom run` starts a conversation",
    "exec": "`greenroom run` starts a conversation",
    "chat": "`greenroom run` starts a conversation, `greenroom attach` joins one",
    "delete": "`greenroom archive` hides a conversation; `greenroom help` has the verb that deletes",
}


def near(word: str, known: Iterable[str]) -> list[str]:
    """The known words that this one is like, the likest first."""
    import difflib  # here, because it is rarely needed

    return difflib.get_close_matches(word, [one for one in known if one not in DESTROYING], n=3, cutoff=CUTOFF)


def nearest(word: str, known: Iterable[str], otherwise: str) -> str:
    """The advice on an unknown word: what else may have been meant."""
    found = near(word, known)
    return f"did you mean {' or '.join(found)}?" if found else otherwise


def nearest_verb(word: str, others: Iterable[str] = ()) -> str:
    """The advice on an unknown verb; `others` are words that would do as well. Empty if nothing is like it."""
    from supervisor.cli.verbs import VERBS

    verbs = (name for verb in VERBS for name in (verb.name, *verb.aliases))
    return ELSEWHERE.get(word) or nearest(word, (*others, *verbs), "")
