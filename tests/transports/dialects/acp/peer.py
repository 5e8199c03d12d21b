"""An editor of the dialect: sends JSON, keeps what comes back, and fails on anything that ACP's schema forbids."""

import json
from typing import Any

from actors.vocabulary.ids import RequestId
from tests.support.acp_client import words_of
from tests.support.acp_judge import judge
from tests.transports.dialects.mcp.daemon import Daemon
from transports import supervisor_requests as ask
from transports.dialects.acp.dialect import AcpDialect
from transports.dialects.acp.options import AcpOptions
from transports.supervisor_answers import Agent, Agents, ConfigValue, SettingsMade
from transports.wire import LinesArrived

Json = dict[str, Any]
CONFIG = {"model": "gpt-5", "profiles": {"fast": {"model": "gpt-5-mini"}}}
AGENTS = (
    Agent("greenroom", "Greenroom's own", default=True, state="ready"),
    Agent("claude", "Claude Code", default=False, state="installed"),
    Agent("gone", "Gone", default=False, state="missing"),
)


def daemon(journal: Any = None) -> Daemon:
    made = Daemon(journal)
    made.serve[ask.ReadConfig] = lambda _: ConfigValue(CONFIG, None)
    made.serve[ask.ListAgents] = lambda _: Agents(AGENTS)
    made.serve[ask.AlterSettings] = _altered
    return made


def _altered(request: ask.AlterSettings) -> SettingsMade:
    values = dict(request.values)
    if isinstance(mode := values.pop("sandbox", None), str):
        values["sandbox"] = {"mode": mode}  # type: ignore[assignment]  # as settings have it
    told = {**request.current.model_dump(mode="json"), **values}
    return SettingsMade(type(request.current).model_validate(told), fields=tuple(values))


class Editor:
    """`can`: its capabilities. `info`: the name that it gives itself."""

    def __init__(
        self, daemon: Daemon, name: str = "c1", can: Json | None = None, *, info: str = "editor", **options: Any
    ) -> None:
        self.daemon = daemon
        self.lines: list[Json] = []
        self._methods: dict[RequestId, str] = {}
        self._next = 100
        self.dialect: AcpDialect
        self.options = AcpOptions(instance="i1", **options)
        self.mailbox = daemon.connect(name, self._make, self._receive)
        self.initialize(can, info)

    def _make(self, client: Any) -> AcpDialect:
        self.dialect = AcpDialect(client, lambda: self.options)
        return self.dialect

    def initialize(self, can: Json | None = None, name: str = "editor") -> Json:
        info = {"name": name, "version": "1"}
        told: Json = self.result("initialize", protocolVersion=1, clientCapabilities=can or {}, clientInfo=info)
        return told

    # --- saying ---------------------------------------------------------------------------------------------------

    def line(self, data: bytes, *, settle: bool = True) -> None:
        self.mailbox.tell(LinesArrived((data,)))
        if settle:
            self.daemon.settle()

    def say(self, message: Json, *, settle: bool = True) -> None:
        self.line(json.dumps({"jsonrpc": "2.0", **message}).encode(), settle=settle)

    def begin(
        self, method: str, *, request: RequestId | None = None, key: str = "", settle: bool = True, **params: Any
    ) -> RequestId:
        if request is None:
            request, self._next = self._next, self._next + 1
        self._methods[request] = method
        beside = {"greenroom": {"key": key}} if key else {}
        self.say({**beside, "id": request, "method": method, "params": params}, settle=settle)
        return request

    def notify(self, method: str, *, settle: bool = True, **params: Any) -> None:
        self.say({"method": method, "params": params}, settle=settle)

    def ask(self, method: str, **params: Any) -> Json:
        return self.answer(self.begin(method, **params))

    def result(self, method: str, **params: Any) -> Any:
        answer = self.ask(method, **params)
        assert "result" in answer, answer
        return answer["result"]

    def error(self, method: str, **params: Any) -> Json:
        answer = self.ask(method, **params)
        assert "error" in answer, answer
        found: Json = answer["error"]
        return found

    def respond(self, number: int, result: Any, *, settle: bool = True) -> None:
        self.say({"id": number, "result": result}, settle=settle)

    def refuse(self, number: int, code: int = -32603) -> None:
        self.say({"id": number, "error": {"code": code, "message": "no"}})

    # --- steps ----------------------------------------------------------------------------------------------------

    def new(self, **params: Any) -> str:
        return str(self.result("session/new", **{"cwd": "/w", "mcpServers": [], **params})["sessionId"])

    def prompt(self, session: str, text: str = "hi", **more: Any) -> RequestId:
        return self.begin("session/prompt", sessionId=session, prompt=[{"type": "text", "text": text}], **more)

    def choose(self, number: int, option: str, **how: Any) -> None:
        self.respond(number, {"outcome": {"outcome": "selected", "optionId": option}}, **how)

    # --- hearing --------------------------------------------------------------------------------------------------

    def answers(self, request: RequestId) -> list[Json]:
        return [one for one in self.lines if "method" not in one and one["id"] == request]

    def answer(self, request: RequestId) -> Json:
        found = self.answers(request)
        assert len(found) == 1, f"request {request!r} has {len(found)} answers"
        return found[0]

    def updates(self, kind: str = "") -> list[Json]:
        told = [one["params"]["update"] for one in self.lines if one.get("method") == "session/update"]
        return [one for one in told if kind in {"", one["sessionUpdate"]}]

    def kinds(self) -> list[str]:
        return [str(one["sessionUpdate"]) for one in self.updates()]

    def text(self, kind: str = "agent_message") -> str:
        return "".join(words_of(one, kind) for one in self.updates())

    def seqs(self) -> list[int]:
        told = (one["params"]["_meta"]["greenroom"] for one in self.lines if one.get("method") == "session/update")
        return [int(one["seq"]) for one in told]

    def runs(self) -> list[bool]:
        """Of each update, whether it says that a turn runs."""
        told = (one["params"]["_meta"]["greenroom"] for one in self.lines if one.get("method") == "session/update")
        return [one.get("running", False) for one in told]

    def questions(self, method: str = "session/request_permission") -> list[Json]:
        return [one for one in self.lines if one.get("method") == method]

    def withdrawn(self) -> list[int]:
        return [one["params"]["requestId"] for one in self.lines if one.get("method") == "$/cancel_request"]

    def order(self) -> list[str]:
        """All that came: kinds of updates, methods, and `=ID` for answers."""
        return [
            str(one["params"]["update"]["sessionUpdate"])
            if one.get("method") == "session/update"
            else str(one.get("method") or f"={one['id']}")
            for one in self.lines
        ]

    def forget(self) -> None:
        self.lines.clear()

    def _receive(self, data: bytes) -> None:
        assert data.endswith(b"\n")
        for line in data.splitlines():
            message = json.loads(line)
            self.lines.append(message)
            judge(message, self._methods.get(message.get("id")))
