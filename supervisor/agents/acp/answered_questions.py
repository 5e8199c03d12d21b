"""Text that tells a restarted agent which questions its turn waited for, and their answers. Pure."""

from actors.vocabulary import events as ev
from actors.vocabulary.ids import ApprovalId
from actors.vocabulary.settings import Decision
from supervisor.agents.tool_lines import line_of_command
from transports.question_text import OURSELVES

MOST = 64  # questions in the text; of more, the last ones
SIGNS_OF_LIFE = (ev.TaskStarted, ev.AgentSession, ev.AgentMessage, ev.ToolUseBegin, ev.ToolUseEnd)
TYPES = ev.APPROVAL_REQUESTS | {ev.type_of(kind) for kind in (*SIGNS_OF_LIFE, ev.ApprovalResolved)}
LENGTH = 500  # characters of a question, and of a reason

OPENING = (
    "[Your program was ended and started anew while you waited for an answer of the person. This is what you had "
    "asked, and the answer:]"
)
CLOSING = (
    "[Nothing of it has been done yet. Go on with your work from there: do what was allowed; find another way for "
    "what was refused.]"
)
ALLOWED = dict.fromkeys(
    (Decision.APPROVED, Decision.APPROVED_FOR_SESSION), "allowed"
)  # the rule for the session is ours


class AnsweredQuestions:
    """Collects answered questions from events. A sign of life of the agent shows that it got all earlier answers."""

    def __init__(self) -> None:
        self._asked: dict[ApprovalId, ev.ApprovalRequest] = {}
        self._answers: dict[ApprovalId, tuple[ev.ApprovalRequest, ev.ApprovalResolved]] = {}

    def take(self, event: ev.DurableEvent) -> None:
        match event:
            case ev.ApprovalResolved():
                self._resolve(event)
            case ev.ToolUseApprovalRequest(agent=agent) if agent == OURSELVES:
                """Greenroom's own question, of which the agent knows nothing."""
            case ev.ApprovalRequest():
                self._answers.clear()
                self._asked[event.approval_id] = event
            case _:
                self._answers.clear()

    def text(self) -> str:
        latest = list(self._answers.values())[-MOST:]
        lines = [answer_line(request, answer) for request, answer in latest]
        return "\n".join([OPENING, *lines, CLOSING]) if lines else ""

    def _resolve(self, event: ev.ApprovalResolved) -> None:
        request = self._asked.pop(event.approval_id, None)
        if request is not None:
            self._answers[event.approval_id] = (request, event)


def answer_line(request: ev.ApprovalRequest, answer: ev.ApprovalResolved) -> str:
    """Return a line with the question and its answer."""
    verdict = ALLOWED.get(answer.decision, "refused")
    reason = f", because: {_line(answer.reason)}" if answer.reason else ""
    return f"- {_line(_subject(request))}: {verdict}{reason}"


def _subject(request: ev.ApprovalRequest) -> str:
    match request:
        case ev.ToolUseApprovalRequest():
            return line_of_command(request.command) or request.title or request.kind
        case ev.ExecApprovalRequest():
            return line_of_command(request.command)
        case ev.ApplyPatchApprovalRequest():
            return f"change {', '.join(request.changes)}"
        case _:
            return "a question of yours"


def _line(text: str) -> str:
    line = " ".join(text[: LENGTH + 1].split())
    return line if len(text) <= LENGTH else f"{line[:LENGTH]}…"
