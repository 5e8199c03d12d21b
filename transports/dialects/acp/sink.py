"""A session's slices to updates and questions. One slice is one write."""

from msgspec import Struct

from actors.messages.effects import Slice
from actors.vocabulary.events import ApprovalRequested, FormSubject
from transports import jsonrpc
from transports.dialect import Wake
from transports.dialects.acp import permissions
from transports.dialects.acp.event_translator import question
from transports.dialects.acp.settings import mode_of, options_of
from transports.dialects.acp.state import AcpState, EditorSession
from transports.dialects.acp.update_json import PermissionRequest, tool
from transports.dialects.acp.updates import Mode, Options, Remark
from transports.dialects.kit.questions import waiting_text

OUTPUT = "output"  # the timer's name
OUTPUT_EVERY_S = 1.0  # each update repeats the text, so frequent ones cost its square


class SessionSink(Struct, eq=False):
    state: AcpState
    session: EditorSession
    answers: bool = True

    def take(self, slice_: Slice) -> None:
        session, state = self.session, self.state
        translator = session.translator
        if slice_.pending is not None:  # the first slice of a subscription
            translator.begin_anew()
        for record in slice_.records:
            updates = list(translator.take(record))
            if record.seq <= session.known_seq:
                translator.changed = False
                continue
            state.tell(session, *updates, seq=record.seq)
            if translator.changed:
                tell_settings(state, session)
            state.questions.heed(slice_, record, self._put)
        for delta in slice_.deltas:
            if slice_.lagged:
                translator.lose(delta)
            for update in translator.delta(delta):
                state.tell(session, update)
        state.questions.heed_pending(slice_, self._put)
        if translator.calls.grown and not session.resting:
            tell_output(state, session)
        state.release(session, session.seq)

    def handle_loss(self, reason: str) -> None:
        state, session = self.state, self.session
        if state.sessions.get(session.conversation) is session:
            text = f"this session can't be read any more: {reason}"
            state.tell(session, Remark("error", text, f"lost-{session.seq}"))
            state.close(session.conversation, reason)

    # --- questions ------------------------------------------------------------------------------------------------

    def _put(self, request: ApprovalRequested) -> None:
        state, session = self.state, self.session
        questions, conversation = state.questions, session.conversation
        ask = self._form(request)
        params: Struct
        if ask is not None:
            method, params = "elicitation/create", ask
        elif permissions.needs_words(request):
            return questions.cannot_ask(request, conversation, self._say)
        else:
            for update in session.translator.asks(request):
                state.tell(session, update)
            method = "session/request_permission"
            params = PermissionRequest(conversation, tool(question(request)), permissions.options(request))
        return questions.ask(request, conversation, lambda number: jsonrpc.request(number, method, params))

    def _form(self, request: ApprovalRequested) -> permissions.FormRequest | permissions.PageRequest | None:
        """The question as a form or a page, if it is one and the client shows such."""
        can, conversation = self.state.abilities, self.session.conversation
        subject = request.subject
        if not isinstance(subject, FormSubject):
            return None
        if subject.url is not None:
            return permissions.page(subject, request.approval_id, conversation) if can.pages else None
        return permissions.form(subject, conversation) if can.forms else None

    def _say(self, request: ApprovalRequested) -> None:
        remark = Remark("warning", waiting_text(request), f"question-{request.approval_id}")
        self.state.tell(self.session, remark)


def tell_settings(state: AcpState, session: EditorSession) -> None:
    """Send a session's settings to its client, no matter who changed them."""
    translator = session.translator
    translator.changed = False
    if translator.settings is not None:
        state.tell(session, Options(options_of(translator.settings, session.offers, translator.agent_options)))
        state.tell(session, Mode(mode_of(translator.settings)))


def tell_output(state: AcpState, session: EditorSession) -> None:
    """Send the ends of outputs that have grown, at most once in a while."""
    session.resting = bool(session.translator.calls.grown)
    for update in session.translator.calls.tail_updates():
        state.tell(session, update)
    if session.resting:
        state.do(Wake(f"{OUTPUT}:{session.conversation}", OUTPUT_EVERY_S))
