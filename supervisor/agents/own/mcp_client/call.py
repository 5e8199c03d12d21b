"""One call of a server's tool in a turn, from the arguments through judgement and approval to the result.

Loop thread. Cancelling the task interrupts the call: it is over for us at once, and the server is told.
"""

import asyncio
import time
from collections.abc import Awaitable, Callable
from typing import Any

from msgspec import Struct

from actors.vocabulary import events as ev
from actors.vocabulary.settings import Settings
from supervisor.agents.own.mcp_client import questions
from supervisor.agents.own.mcp_client.connection import ServerConnection
from supervisor.agents.own.mcp_client.failures import ServerError, ServerTimedOut
from supervisor.agents.own.mcp_client.offered_tools import OfferedTool
from supervisor.agents.own.mcp_client.questions import Verdict, judge_call
from supervisor.agents.own.mcp_client.results import Result, result_of
from supervisor.agents.own.mcp_client.server_tools import Json
from supervisor.agents.own.tools.tool_result import FailureKind, ToolResult, failure
from supervisor.agents.own.tools.work import Work
from supervisor.agents.own.transcript.open_calls import OpenCall

PROGRESS_S = 2.0  # between two lines of progress
PROGRESS_LINES = 30  # of one call: each of them is stored
PROGRESS_WORDS = 200  # characters of a server's message about its progress
NO_ROOM = "the form needs what can't be told here"


class CallOutcome(Struct, frozen=True):
    """The outcome of a call, for its end event."""

    status: ev.WorkStatus
    result: Json | None = None
    errors: str = ""


class ServerToolCall:
    """A call. As a `Caller` it also takes the server's notices and questions meanwhile."""

    def __init__(
        self,
        work: Work,
        call: OpenCall,
        offered: OfferedTool,
        connect: Callable[[], ServerConnection],
        look: Callable[[], Awaitable[OfferedTool | None]],
    ) -> None:
        """`look` finds the tool as it is offered now, as it may have changed while a person decided."""
        self.conversation = str(work.turn.order.conversation)
        self._work = work
        self._call = call
        self._offered = offered
        self._connect = connect
        self._look = look
        self._what = f"{offered.server} {offered.tool.name}"
        self._open = False
        self._progress_lines = 0
        self._progress_at = 0.0

    async def run(self, arguments: Json) -> ToolResult:
        refusal = await self._refusal(arguments)
        return refusal or await self._carry_out(arguments)

    async def _refusal(self, arguments: Json, *, changed: bool = False) -> ToolResult | None:
        match verdict(self._offered, self._work.settings):
            case Verdict.RUN:
                return None
            case Verdict.REFUSE:
                why = "it would have to be approved, and the approval policy is never"
                return failure("refused", f"{self._what}: {why}; a person can {self._way_out}")
            case Verdict.ASK:
                answer = await self._work.ask(self._question(arguments, changed=changed))
                if not answer.is_approved:
                    return failure("refused", answer.rejection_of(self._what))
                now = await self._look()
                if now is None or now.fingerprint == self._offered.fingerprint:
                    return None
                self._offered = now
                return await self._refusal(arguments, changed=True)

    @property
    def _way_out(self) -> str:
        setting = f"set mcp_servers.{self._offered.server}.default_tools_approval_mode"
        return f"write the server into the config, and {setting}" if self._offered.given else setting

    def _question(self, arguments: Json, *, changed: bool) -> ev.ApprovalRequested:
        work = self._work
        return ev.ApprovalRequested(
            call_id=self._call.call,
            subject=self._subject(questions.shown_arguments(arguments)),
            outside_sandbox=True,
            approval_id=work.new_approval(),
            item_id=self._call.item,
            deadline_s=work.deadline_s,
            default=work.default,
            fingerprint=self._offered.fingerprint,
            changed=changed,
        )

    def _subject(self, arguments: object) -> ev.ToolSubject:
        return ev.ToolSubject(server=self._offered.server, tool=self._offered.tool.name, arguments=arguments)

    async def _carry_out(self, arguments: Json) -> ToolResult:
        """Make the call; its begin and end events are sent in every case."""
        work, began = self._work, time.monotonic()
        subject = self._subject(_for_history(arguments))
        work.say(ev.WorkBegan(call_id=self._call.call, item_id=self._call.item, subject=subject))
        outcome = CallOutcome("cancelled", errors="interrupted")
        self._open = True
        try:
            await work.turn.wait_until_stored()  # otherwise a crash could leave no record of a call that was made
            result = await self._result(arguments)
            failed = result.for_model.failed
            outcome = (
                CallOutcome("completed", result=result.for_history)
                if failed is None
                else CallOutcome("failed", errors=failed.message)
            )
        except ServerError as error:
            outcome = CallOutcome("failed", errors=str(error))
            return failure(_kind(error), f"{self._what}: {error}")
        else:
            return result.for_model
        finally:
            self._open = False
            end = ev.WorkEnded(
                call_id=self._call.call,
                item_id=self._call.item,
                kind="tool",
                subject=subject,
                status=outcome.status,
                result=outcome.result,
                errors=outcome.errors,
                duration=ev.Duration.from_seconds(time.monotonic() - began),
            )
            work.say(end)

    async def _result(self, arguments: Json) -> Result:
        connection = self._connect()  # the one from before a question may have been ended meanwhile
        answer = await connection.call(self._offered.tool.name, arguments, self)
        return await asyncio.to_thread(result_of, answer, self._what, self._work.bounds)

    # --- from the server, meanwhile ---------------------------------------------------------------------------------

    def show_notice(self, notice: str) -> None:
        if self._open:
            self._work.say(ev.BackgroundEvent(message=notice))

    async def report_progress(self, progress: float, total: float | None, message: str | None) -> None:
        now = time.monotonic()
        if self._progress_lines < PROGRESS_LINES and now - self._progress_at >= PROGRESS_S:
            self._progress_lines += 1
            self._progress_at = now
            self.show_notice(f"{self._what}: {_progress(progress, total, message)}")

    async def elicit(self, params: Json) -> Json:
        if not self._open:
            return {"action": "cancel"}
        page, missing = questions.page_of(params), questions.unanswerable_fields(params)
        work = self._work
        request = ev.ApprovalRequested(
            call_id=self._call.call,
            subject=ev.FormSubject(
                server=self._offered.server,
                message=questions.question_of(params),
                fields=questions.fields_of(params),
                form=() if page or missing else questions.form_of(params),
                url=page,
            ),
            reason=f"{NO_ROOM}: {', '.join(missing)}; a yes is sent as a no" if missing else None,
            approval_id=work.new_approval(),
            item_id=work.turn.new_item(),
            deadline_s=work.deadline_s,
            default=work.default,
        )
        answer = await work.turn.ask(request, resumable=False)  # the call goes on meanwhile: it can't begin again
        if not answer.is_approved or missing:
            return {"action": "decline"}
        return {"action": "accept"} if page else {"action": "accept", "content": dict(answer.content)}


def verdict(offered: OfferedTool, settings: Settings) -> Verdict:
    """Tell whether a call of the tool may be made, by the config and the conversation's settings."""
    mode = offered.config.approval_of(offered.tool.name)
    return judge_call(mode, offered.tool, settings, confined=offered.confined)


def _progress(progress: float, total: float | None, message: str | None) -> str:
    far = f"{progress:g} of {total:g}" if total else f"{progress:g}"
    words = " ".join((message or "").split())[:PROGRESS_WORDS]
    return f"{far}, {words}" if words else far


def _for_history(arguments: Json) -> Any:
    """Return the arguments for history, as a cut text if they are long: the model's own call has them whole."""
    shown = questions.shown_arguments(arguments)
    return arguments if len(shown) < questions.ARGUMENTS_SHOWN else shown


def _kind(error: ServerError) -> FailureKind:
    return "time_out" if isinstance(error, ServerTimedOut) else "tool"
