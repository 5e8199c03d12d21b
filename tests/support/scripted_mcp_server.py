"""An MCP server over stdio that misbehaves on demand; its standard input and output are all that it needs.

`python scripted_mcp_server.py [MODE…]`. Modes: `mute` never answers; `dies` ends at once with words on stderr;
`greets` prints a banner first; `stays` lives on when its input has ended. Its tools do as their names say. In
`$TOLD_OF_WRITE`, a file, stands what it says of its tool `write` beside the name, read for each list.
"""

import json
import os
import sys
import time
from base64 import b64encode
from pathlib import Path
from typing import Any

PNG = b64encode(b"\x89PNG\r\n\x1a\n" + b"\0" * 16).decode()
TOOLS: list[dict[str, Any]] = [
    {"name": "echo", "description": "Says it again.", "annotations": {"readOnlyHint": True}},
    {"name": "write", "description": "Writes."},
    {"name": "add", "annotations": {"destructiveHint": False}},
    *(
        {"name": name}
        for name in ("die", "flood", "garbage", "sleep", "more_tools", "ask", "ask_often", "huge_tools")
    ),
    *({"name": name} for name in ("ask_needed", "ask_page")),
    *(
        {"name": name}
        for name in ("progress", "picture", "structured", "linked", "fail", "environment", "cancellations")
    ),
]


def send(**message: Any) -> None:
    sys.stdout.write(json.dumps({"jsonrpc": "2.0", **message}) + "\n")
    sys.stdout.flush()


def read() -> dict[str, Any]:
    line = sys.stdin.readline()
    if not line:
        if "stays" in sys.argv:
            time.sleep(3600)
        sys.exit(0)
    message: dict[str, Any] = json.loads(line)
    return message


class Server:
    def __init__(self) -> None:
        self.extra: list[dict[str, Any]] = []
        self.cancelled: list[Any] = []

    def run(self) -> None:
        while True:
            self.hear(read())

    def hear(self, message: dict[str, Any]) -> None:
        number, params = message.get("id"), message.get("params") or {}
        match message.get("method"):
            case "initialize":
                capabilities = {"tools": {"listChanged": True}}
                about = {"name": "scripted", "version": "1"}
                result = {"protocolVersion": "2025-06-18", "capabilities": capabilities, "serverInfo": about}
                send(id=number, result=result)
            case "tools/list":
                told = os.environ.get("TOLD_OF_WRITE", "")
                other = {"write": json.loads(Path(told).read_text("utf-8"))} if told else {}
                listed = [{**one, **other.get(one["name"], {})} for one in (*TOOLS, *self.extra)]
                tools = [{"inputSchema": {"type": "object"}, **one} for one in listed]
                send(id=number, result={"tools": tools})
            case "tools/call":
                self.call(number, params)
            case "notifications/cancelled":
                self.cancelled.append(params.get("requestId"))
            case _:
                if number is not None:
                    send(id=number, error={"code": -32601, "message": "no such method"})

    def call(self, number: Any, params: dict[str, Any]) -> None:
        arguments = params.get("arguments") or {}
        made = getattr(self, params["name"], None)
        if made is None:
            send(id=number, error={"code": -32602, "message": f"no tool {params['name']}"})
            return
        token = (params.get("_meta") or {}).get("progressToken")
        result = made(arguments, token)
        if isinstance(result, str):
            result = {"content": [{"type": "text", "text": result}]}
        if result is not None:
            send(id=number, result=result)

    def echo(self, arguments: dict[str, Any], _: Any) -> str:
        return str(arguments.get("text", ""))

    write = add = echo

    def die(self, arguments: dict[str, Any], _: Any) -> None:
        print("I have had enough", file=sys.stderr, flush=True)
        os._exit(int(arguments.get("status", 3)))

    def flood(self, arguments: dict[str, Any], _: Any) -> str:
        return "0123456789abcde " * (int(arguments.get("megabytes", 1)) << 16)

    def garbage(self, _: dict[str, Any], __: Any) -> str:
        print("{this is not JSON", flush=True)
        print('{"jsonrpc": "2.0", "id": 999, "result": {}}', flush=True)
        return "after garbage"

    def sleep(self, arguments: dict[str, Any], _: Any) -> str | None:
        """Answer never; go on reading, so that a cancellation is seen."""
        if arguments.get("deaf"):
            time.sleep(3600)
        return None

    def huge_tools(self, arguments: dict[str, Any], __: Any) -> str:
        """Offer a tool that says far more of itself than can be sent, and one with a name of that length."""
        much = "x" * int(arguments["characters"])
        schema = {"type": "object", "properties": {"a": {"type": "string", "description": much}}}
        self.extra.append({"name": "huge", "description": much, "inputSchema": schema})
        self.extra.append({"name": much})
        send(method="notifications/tools/list_changed")
        return "there are more"

    def more_tools(self, _: dict[str, Any], __: Any) -> str:
        self.extra.append({"name": "late", "description": "Came later."})
        send(method="notifications/tools/list_changed")
        return "there are more"

    late = echo

    def _asked(self, params: dict[str, Any]) -> str:
        send(id="question", method="elicitation/create", params=params)
        while (message := read()).get("id") != "question":
            self.hear(message)
        return json.dumps(message.get("result"))

    def ask(self, _: dict[str, Any], __: Any) -> str:
        colour = {"type": "string", "enum": ["red", "blue"], "default": "blue"}
        schema = {"type": "object", "properties": {"colour": colour}, "required": ["colour"]}
        return self._asked({"message": "Which colour?", "requestedSchema": schema})

    def ask_often(self, arguments: dict[str, Any], __: Any) -> str:
        """Ask many questions at once, without waiting; tell what was answered."""
        asked = {f"question-{number}" for number in range(int(arguments["times"]))}
        schema: dict[str, Any] = {"type": "object", "properties": {}}
        for one in sorted(asked):
            send(id=one, method="elicitation/create", params={"message": one, "requestedSchema": schema})
        answers = []
        while asked:
            if (message := read()).get("id") in asked:
                asked.remove(message["id"])
                answers.append(message["result"]["action"])
            else:
                self.hear(message)
        return json.dumps(answers)

    def ask_needed(self, _: dict[str, Any], __: Any) -> str:
        schema = {"type": "object", "properties": {"name": {"type": "string"}}, "required": ["name"]}
        return self._asked({"message": "Your name?", "requestedSchema": schema})

    def ask_page(self, _: dict[str, Any], __: Any) -> str:
        return self._asked(
            {"mode": "url", "message": "Log in", "url": "https://login.example/x", "elicitationId": "1"}
        )

    def progress(self, _: dict[str, Any], token: Any) -> str:
        for step in (1, 2, 3):
            params = {"progressToken": token, "progress": step, "total": 3, "message": f"step {step}"}
            send(method="notifications/progress", params=params)
        return "done"

    def picture(self, _: dict[str, Any], __: Any) -> dict[str, Any]:
        return {"content": [{"type": "image", "data": PNG, "mimeType": "image/png"}]}

    def structured(self, _: dict[str, Any], __: Any) -> dict[str, Any]:
        return {"content": [], "structuredContent": {"warm": True}}

    def linked(self, _: dict[str, Any], __: Any) -> dict[str, Any]:
        embedded = {"type": "resource", "resource": {"uri": "file:///w/a.txt", "text": "embedded words"}}
        return {"content": [embedded, {"type": "resource_link", "uri": "file:///w/b.txt", "name": "b"}]}

    def fail(self, _: dict[str, Any], __: Any) -> dict[str, Any]:
        return {"content": [{"type": "text", "text": "no such thing\nmore"}], "isError": True}

    def environment(self, _: dict[str, Any], __: Any) -> str:
        return json.dumps({"env": dict(os.environ), "cwd": os.getcwd(), "pid": os.getpid()})  # noqa: PTH109  # a program

    def cancellations(self, _: dict[str, Any], __: Any) -> str:
        return json.dumps(self.cancelled)


def main(modes: list[str]) -> None:
    if "dies" in modes:
        print("no licence", file=sys.stderr, flush=True)
        sys.exit(4)
    if "mute" in modes:
        sys.stdin.read()
        sys.exit(0)
    if "greets" in modes:
        print("Welcome to the scripted server!", flush=True)
    Server().run()


if __name__ == "__main__":
    main(sys.argv[1:])
