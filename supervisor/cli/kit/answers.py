"""Words that answer a question, wherever one is typed: ours, those of an agent's options, and a no with a reason.

Pure; the standard library alone. A word of ours means ours: an option that is called so has another word.
"""

import re
from collections.abc import Iterator
from typing import NamedTuple

from supervisor.cli.kit.client import Json
from transports.question import may_leave, only_once, outside

APPROVED, DENIED, KEPT, ABORT = "approved", "denied", "approved_for_session", "abort"


class Answer(NamedTuple):
    decision: str
    option: str = ""
    reason: str = ""
    outside: bool = False

    @property
    def approves(self) -> bool:
        return self.decision.startswith("approved")

    @property
    def members(self) -> Json:
        """The members of `approvals/answer`."""
        return self._asdict()


OURS = {
    **dict.fromkeys(("y", "yes"), Answer(APPROVED)),
    "outside": Answer(APPROVED, outside=True),
    "always": Answer(KEPT),
    "always outside": Answer(KEPT, outside=True),
    **dict.fromkeys(("n", "no"), Answer(DENIED)),
    "abort": Answer(ABORT),
}
BECAUSE = re.compile(
    r"(?:no|n)(?:\s*[,;:.\u2013\u2014-]+\s*(?:because\b)?|\s+because\b)[\s,:]*(?P<reason>\S.*)",
    re.IGNORECASE | re.DOTALL,
)
NO_WORDS = re.compile(r"no\b|not\b|n$|deny|reject|refuse|never|cancel|abort|stop|don'?t", re.IGNORECASE)
WORD = re.compile(r"[^\W\d_][\w-]*[.!?]*")


def answer_in(said: str, asked: Json) -> Answer | None:
    """Return the answer to a question; None: these words are none."""
    words = " ".join(said.lower().split()).rstrip(".!")
    if words in OURS:
        return _possible(OURS[words], asked)
    option = next((one for one in options_of(asked) if words in _words_of(one, asked)), None)
    if option is not None:
        return _chosen(option, words)
    no = BECAUSE.fullmatch(said.strip())
    return None if no is None else Answer(DENIED, reason=no["reason"].strip())


def is_like_an_answer(said: str) -> bool:
    """True for a word, or what begins with one of ours: it is meant for the question, not as a message."""
    first, *more = said.split(maxsplit=1)
    return (not more and bool(WORD.fullmatch(said.strip()))) or first.lower().rstrip(",.;:!?") in {*OURS, "show"}


def possible_words(asked: Json) -> Iterator[str]:
    """The words that answer a question, without those of the agent's own rules: these stand in the question."""
    yield "yes"
    if may_leave(asked):
        yield "outside"
    yield "no"
    if not only_once(asked):
        yield "always"
    yield "abort"


def _possible(answer: Answer, asked: Json) -> Answer | None:
    if answer.decision == KEPT and only_once(asked):
        return None
    if answer.outside and not may_leave(asked):
        return answer._replace(outside=False) if outside(asked) else None
    return answer


# --- the options of an agent ----------------------------------------------------------------------------------------


def options_of(asked: Json) -> list[Json]:
    options: list[Json] = asked.get("options") or []
    return options


def _words_of(option: Json, asked: Json) -> set[str]:
    """The words that mean an option and no other: its id, its name, its kind."""
    others = [one for one in options_of(asked) if one is not option]
    taken = {str(one[name]).strip().lower() for one in others for name in ("id", "name", "kind")}
    words = {str(option[name]).strip().lower() for name in ("id", "name", "kind")} - taken
    return {*words, f"option {option['id']}".lower()}


def _chosen(option: Json, words: str) -> Answer | None:
    """The answer; none where an agent calls a yes what everybody reads as a no."""
    if option["kind"].startswith("reject"):
        return Answer(DENIED, option=option["id"])
    return None if NO_WORDS.match(words) else Answer(APPROVED, option=option["id"])
