"""The dialect of ACP: lines to scripts, answers and slices to lines.

Part of its connection. Open requests and sessions are in the client's state; this module only routes.
"""

from collections.abc import Callable, Iterable
from typing import assert_never

from msgspec.structs import replace

from actors.vocabulary.errors import Cancelled, ConfigError, GreenroomError, InvalidInput, UnknownConversation
from actors.vocabulary.events import FormSubject
from actors.vocabulary.ids import ConversationId, RequestId
from transports import jsonrpc
from transports.dialect import Action, Client
from transports.dialects.acp import params as p
from transports.dialects.acp import permissions, prompts, sessions
from transports.dialects.acp.methods import METHODS
from transports.dialects.acp.options import AcpOptions
from transports.dialects.acp.sink import OUTPUT, tell_output
from transports.dialects.acp.state import REQUEST_CANCELLED, AcpCall, AcpState, HeldAnswer
from transports.dialects.acp.updates import Remark
from transports.dialects.kit.reading_dialect import ReadingDialect
from transports.dialects.kit.refusals import MethodError

UNKNOWN_SESSION = -32002


class AcpDialect(ReadingDialect):
    _state: AcpState

    def __init__(self, client: Client, fresh: Callable[[], AcpOptions] = AcpOptions) -> None:
        """`fresh` makes the options, now and after the config was read again."""
        self._state = AcpState(client, fresh)

    # --- from the client ------------------------------------------------------------------------------------------

    def receive_line(self, line: bytes) -> Iterable[Action]:
        match message := jsonrpc.read(line):
            case jsonrpc.Request():
                self._request(message)
            case jsonrpc.Notification("session/cancel", params):
                self._cancel_session(params)
            case jsonrpc.Notification("$/cancel_request", params):
                self._cancel_request(params)
            case jsonrpc.Notification():
                pass
            case jsonrpc.Response(number, result):
                self._handle_reply(number, result)
            case jsonrpc.ErrorResponse(number):
                self._handle_refusal(number)
            case jsonrpc.Malformed(code, text, request):
                self._write(jsonrpc.error(request, code, text))
            case _:
                assert_never(message)
        return self._state.take_actions()

    def _request(self, request: jsonrpc.Request) -> None:
        method = METHODS.get(request.method)
        if method is None:
            text = f"Method not found: {request.method}"
            return self._write(jsonrpc.error(request.id, jsonrpc.METHOD_NOT_FOUND, text))
        try:
            params = p.decode(method.params, {} if request.params is None else request.params)
        except ValueError as error:
            return self._write(jsonrpc.error(request.id, jsonrpc.INVALID_PARAMS, f"Invalid params: {error}"))
        refusal = self._state.requests.refusal(request.id, urgent=method.urgent(params))
        if refusal is not None:
            return self._write(jsonrpc.refusal_line(request.id, refusal))
        key = (request.greenroom or {}).get("key")
        call = AcpCall(self._state, request.id, key if isinstance(key, str) else None)
        return self._state.requests.run(request.id, method.begin(call, params), self._finish)

    def _finish(self, request: RequestId, outcome: object) -> None:
        match outcome:
            case prompts.AnswerAfterEvents(conversation, seq, answer):
                self._state.hold(conversation, HeldAnswer(request, seq, _answer(request, answer)))
            case sessions.OpenedSession():
                self._write(jsonrpc.result(request, outcome.result))
                sessions.follow(self._state, outcome)
            case _:
                self._write(_answer(request, outcome))

    def _cancel_session(self, params: jsonrpc.Params) -> None:
        reference = params.get("sessionId") if isinstance(params, dict) else None
        session = self._state.sessions.get(ConversationId(reference)) if isinstance(reference, str) else None
        if session is not None:
            self._state.scripts.run(prompts.cancel_session(self._state, session))

    def _cancel_request(self, params: jsonrpc.Params) -> None:
        request = params.get("requestId") if isinstance(params, dict) else None
        if isinstance(request, int | str) and not isinstance(request, bool):
            prompts.cancel_request(self._state, request)

    def _handle_reply(self, number: RequestId, result: object) -> None:
        questions = self._state.questions
        question = questions.open_question(number)
        if question is None:
            return  # the question was withdrawn
        as_form = isinstance(question.request.subject, FormSubject) and "action" in _members(result)
        reply = permissions.form_reply(result) if as_form else permissions.selection_reply(question.request, result)
        if reply.decision is None and self._is_cancelling(question.conversation):
            questions.drop(number)  # the turn's end withdraws it
        else:
            questions.decide(number, reply)

    def _handle_refusal(self, number: RequestId | None) -> None:
        questions = self._state.questions
        question = questions.open_question(number)
        if question is not None and self._is_cancelling(question.conversation):
            questions.drop(number)
        else:
            questions.decline(number)

    def _is_cancelling(self, conversation: ConversationId) -> bool:
        session = self._state.sessions.get(conversation)
        return session is not None and session.cancels > 0

    # --- from timers and the daemon ---------------------------------------------------------------------------------

    def wake(self, name: str) -> Iterable[Action]:
        state, (kind, _, conversation) = self._state, name.partition(":")
        if kind != OUTPUT:
            raise ValueError(f"unknown timer {name}")
        session = state.sessions.get(ConversationId(conversation))
        if session is not None:
            tell_output(state, session)
        return state.take_actions()

    def reconfigure(self) -> Iterable[Action]:
        self._state.configure()
        for session in self._state.sessions.values():
            session.offers = replace(session.offers, widest=self._state.options.widest)
        return self._state.take_actions()

    def announce(self, text: str) -> Iterable[Action]:
        for session in self._state.sessions.values():
            if not session.opening:
                self._state.tell(session, Remark("warning", text, f"announced-{self._state.scripts.number()}"))
        return self._state.take_actions()


def _answer(request: RequestId, outcome: object) -> bytes:
    """The line of a result or an error, with ACP's numbers."""
    match outcome:
        case MethodError(number=number, message=message, data=data):
            return jsonrpc.error(request, number, message, data)
        case Cancelled():
            return jsonrpc.error(request, REQUEST_CANCELLED, outcome.message)
        case UnknownConversation():
            return jsonrpc.error(request, UNKNOWN_SESSION, outcome.message)
        case InvalidInput() | ConfigError():
            wants_login = prompts.NO_LOGIN.search(outcome.message) is not None
            number = prompts.LOGIN_WANTED if wants_login else jsonrpc.INVALID_PARAMS
            return jsonrpc.error(request, number, outcome.message)
        case GreenroomError():
            return jsonrpc.refusal_line(request, outcome)
        case _:
            return jsonrpc.result(request, outcome)


def _members(result: object) -> Iterable[object]:
    return result if isinstance(result, dict) else ()
