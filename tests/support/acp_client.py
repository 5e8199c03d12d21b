"""An ACP client over the daemon's socket, or over the pipes of a program.

Each line is judged by the official SDK's models, unless the program is another's.
"""

from collections.abc import Mapping
from pathlib import Path
from typing import Any, Self

from tests.support.acp_judge import judge
from tests.support.line_client import Json, Line, LineClient, SocketLine


class AcpSocket(SocketLine):
    def __init__(self, path: str, hello: Mapping[str, Any]) -> None:
        super().__init__(path, {"dialect": "acp", **hello})


class AcpClient(LineClient):
    """A context manager; inside, it has introduced itself. `can`: its capabilities. `judged`: by the schema."""

    def __init__(self, line: Line, can: Json | None = None, *, name: str = "tester", judged: bool = True) -> None:
        self._can, self._name, self._judged = can or {}, name, judged
        self.introduced: Json = {}
        super().__init__(line, "acp-client")

    def __enter__(self) -> Self:
        info = {"name": self._name, "version": "1"}
        self.introduced = self.result("initialize", protocolVersion=1, clientCapabilities=self._can, clientInfo=info)
        return self

    # --- saying ---------------------------------------------------------------------------------------------------

    def begin(self, method: str, *, request: int | str | None = None, key: str = "", **params: Any) -> int | str:
        """Send a request without waiting. `key`: that of a bridge, for a prompt."""
        asked = self.request(method, params, request)
        self.say({**({"greenroom": {"key": key}} if key else {}), **asked})
        number: int | str = asked["id"]
        return number

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

    def notify(self, method: str, **params: Any) -> None:
        self.say({"method": method, "params": params})

    def choose(self, number: int | str, option: str) -> None:
        self.respond(number, {"outcome": {"outcome": "selected", "optionId": option}})

    # --- steps ----------------------------------------------------------------------------------------------------

    def new(self, cwd: Path | str, **more: Any) -> str:
        return str(self.result("session/new", cwd=str(cwd), mcpServers=[], **more)["sessionId"])

    def prompt(self, session: str, text: str, **more: Any) -> int | str:
        return self.begin("session/prompt", sessionId=session, prompt=[{"type": "text", "text": text}], **more)

    def turn(self, session: str, text: str) -> str:
        """Prompt, wait for the end, and return the words that came meanwhile."""
        mark = self.mark()
        answer = self.answer(self.prompt(session, text))
        assert answer.get("result") == {"stopReason": "end_turn"}, answer
        return self.text(after=mark)

    # --- hearing --------------------------------------------------------------------------------------------------

    def asked(self, method: str = "session/request_permission", **more: Any) -> Json:
        """The whole request from the agent."""
        return self.wait(lambda line: line.get("method") == method and "id" in line, method, **more)

    def withdrawn(self, number: int | str, **more: Any) -> None:
        """Wait until a request from the agent is taken back."""
        self.wait(
            lambda line: line.get("method") == "$/cancel_request" and line["params"]["requestId"] == number,
            f"the withdrawal of {number}",
            **more,
        )

    def update(self, kind: str, *, after: int = 0, **matching: Any) -> Json:
        """The update of this kind; `matching` are members of it."""

        def is_it(line: Json) -> bool:
            told = line["params"]["update"] if line.get("method") == "session/update" else {"sessionUpdate": None}
            return bool(told["sessionUpdate"] == kind and matching.items() <= told.items())

        told: Json = self.wait(is_it, f"the update {kind}", after=after)["params"]["update"]
        return told

    def updates(self, kind: str = "", *, after: int = 0, session: str = "") -> list[Json]:
        told = self.told("session/update", after)
        mine = [one["update"] for one in told if session in {"", one["sessionId"]}]
        return [one for one in mine if kind in {"", one["sessionUpdate"]}]

    def text(self, kind: str = "agent_message", **more: Any) -> str:
        return "".join(words_of(one, kind) for one in self.updates(**more))

    def place(self) -> int:
        """The last stored event that the updates so far tell of."""
        told = self.told("session/update")
        return int(told[-1]["_meta"]["greenroom"]["seq"]) if told else 0

    # --- the reader's thread --------------------------------------------------------------------------------------

    def _judge(self, message: Json) -> None:
        if self._judged:
            judge(message, self.methods.get(message.get("id")))  # type: ignore[arg-type]  # None is no id of ours


def words_of(update: Json, kind: str) -> str:
    """The words of an update, if it is a piece of a message of this kind."""
    return str(update["content"].get("text", "")) if update["sessionUpdate"] == f"{kind}_chunk" else ""
