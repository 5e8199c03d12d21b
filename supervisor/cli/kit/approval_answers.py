"""Words that answer an approval, wherever a person types them: our words, an agent's options, a no with a reason.

Pure; the standard library alone. Our words come first: an option of the same name is chosen by another word.
"""

import re
from collections.abc import Iterator
from typing import NamedTuple

from supervisor.cli.kit.client import Json
from transports.question_text import may_leave, only_once, runs_outside

APPROVED, DENIED, APPROVED_FOR_SESSION, ABORT = "approved", "denied", "approved_for_session", "abort"


class ApprovalAnswer(NamedTuple):
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


OUR_ANSWERS = {
    **dict.fromkeys(("y", "yes"), ApprovalAnswer(APPROVED)),
    "outside": ApprovalAnswer(APPROVED, outside=True),
    "always": ApprovalAnswer(APPROVED_FOR_SESSION),
    "always outside": ApprovalAnswer(APPROVED_FOR_SESSION, outside=True),
    **dict.fromkeys(("n", "no"), ApprovalAnswer(DENIED)),
    "abort": ApprovalAnswer(ABORT),
}
NO_WITH_REASON = re.compile(
    r"(?:no|n)(?:\s*[,;:.\u2013\u2014-]+\s*(?:because\b)?|\s+because\b)[\s,:]*(?P<reason>\S.*)",
    re.IGNORECASE | re.DOTALL,
)
NO_WORDS = re.compile(r"no\b|not\b|n$|deny|reject|refuse|never|cancel|abort|stop|don'?t", re.IGNORECASE)
WORD = re.compile(r"[^\W\d_][\w-]*[.!?]*")


def parse_answer(said: str, asked: Json) -> ApprovalAnswer | None:
    """Return the answer that the words give to an approval; None if they give none."""
    words = " ".join(said.lower().split()).rstrip(".!")
    if words in OUR_ANSWERS:
        return _allowed_answer(OUR_ANSWERS[words], asked)
    option = next((candidate for candidate in options_of(asked) if words in _words_of(candidate, asked)), None)
    if option is not None:
        return _answer_by_option(option, words)
    no = NO_WITH_REASON.fullmatch(said.strip())
    return None if no is None else ApprovalAnswer(DENIED, reason=no["reason"].strip())


def is_like_an_answer(said: str) -> bool:
    """Whether the text is a single word or begins with a word of ours: then it was not meant as a message."""
    first, *more = said.split(maxsplit=1)
    return (not more and bool(WORD.fullmatch(said.strip()))) or first.lower().rstrip(",.;:!?") in {
        *OUR_ANSWERS,
        "show",
    }


def possible_words(asked: Json) -> Iterator[str]:
    """The words that answer an approval, without those of the agent's options, which the approval lists itself."""
    yield "yes"
    if may_leave(asked):
        yield "outside"
    yield "no"
    if not only_once(asked):
        yield "always"
    yield "abort"


def _allowed_answer(answer: ApprovalAnswer, asked: Json) -> ApprovalAnswer | None:
    if answer.decision == APPROVED_FOR_SESSION and only_once(asked):
        return None
    if answer.outside and not may_leave(asked):
        return answer._replace(outside=False) if runs_outside(asked) else None
    return answer


# --- the options of an agent ----------------------------------------------------------------------------------------


def options_of(asked: Json) -> list[Json]:
    options: list[Json] = asked.get("options") or []
    return options


def _words_of(option: Json, asked: Json) -> set[str]:
    """The words that mean this option and no other: its id, its name, its kind."""
    others = [other for other in options_of(asked) if other is not option]
    taken = {str(other[name]).strip().lower() for other in others for name in ("id", "name", "kind")}
    words = {str(option[name]).strip().lower() for name in ("id", "name", "kind")} - taken
    return {*words, f"option {option['id']}".lower()}


def _answer_by_option(option: Json, words: str) -> ApprovalAnswer | None:
    """The answer that chooses the option; None if the option is a yes and its word reads as a no."""
    if option["kind"].startswith("reject"):
        return ApprovalAnswer(DENIED, option=option["id"])
    return None if NO_WORDS.match(words) else ApprovalAnswer(APPROVED, option=option["id"])
