"""Suggestions for a mistyped verb, option or value. None of them is a verb that destroys something."""

from collections.abc import Iterable

CUTOFF = 0.7  # for difflib; less similar words don't look alike to a person
# Verbs whose work can't be undone: never suggested for a mistyped word.
DESTROYING_VERBS = frozenset({"rm", "remove", "drop", "uninstall", "down", "shutdown"})
# Verbs of other programs, each with advice on the verb that we have.
VERBS_ELSEWHERE = {
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


def similar_words(word: str, known: Iterable[str]) -> list[str]:
    """The known words that are similar to this word, the most similar first."""
    import difflib  # here, because it is rarely needed

    return difflib.get_close_matches(
        word, [candidate for candidate in known if candidate not in DESTROYING_VERBS], n=3, cutoff=CUTOFF
    )


def advice_on_word(word: str, known: Iterable[str], otherwise: str) -> str:
    """The advice on an unknown word: similar words, or `otherwise` if there are none."""
    found = similar_words(word, known)
    return f"did you mean {' or '.join(found)}?" if found else otherwise


def advice_on_verb(word: str, others: Iterable[str] = ()) -> str:
    """The advice on an unknown verb; `others` are further words to suggest. Empty if no word is similar."""
    from supervisor.cli.verbs import VERBS

    verbs = (name for verb in VERBS for name in (verb.name, *verb.aliases))
    return VERBS_ELSEWHERE.get(word) or advice_on_word(word, (*others, *verbs), "")
