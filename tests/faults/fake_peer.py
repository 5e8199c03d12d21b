"""A fake server of the codex MCP shape: enough to test the client that measures servers.

`say …` is answered at once, `pack …; stream …` too; a `call shell` runs until it is cancelled. `--deaf` goes.
"""

import json
import os
import signal
import subprocess
import sys
from typing import Any

RUNNING: dict[int, subprocess.Popen[bytes]] = {}  # by the request that began it


def tell(body: dict[str, Any]) -> None:
    print(json.dumps({"jsonrpc": "2.0", **body}), flush=True)


def event(request: int, kind: str) -> None:
    params = {"_meta": {"requestId": request}, "id": str(request), "msg": {"type": kind}}
    tell({"method": "codex/event", "params": params})


def call(request: int, name: str, prompt: str) -> None:
    if name != "codex":
        tell({"id": request, "result": {"content": [], "isError": True}})
        return
    event(request, "task_started")
    if prompt.startswith("call shell "):
        command = json.loads(prompt.removeprefix("call shell "))["command"]
        RUNNING[request] = subprocess.Popen(command, start_new_session=True)
        event(request, "exec_command_begin")
    else:
        event(request, "task_complete")
        tell({"id": request, "result": {"content": [{"type": "text", "text": "x"}]}})


def cancel(request: int) -> None:
    os.killpg(RUNNING[request].pid, signal.SIGTERM)
    RUNNING.pop(request).wait()
    event(request, "turn_aborted")


def main() -> None:
    for line in sys.stdin:
        message = json.loads(line)
        params = message.get("params", {})
        if "--deaf" in sys.argv:
            return
        match message["method"]:
            case "initialize":
                tell({"id": message["id"], "result": {"protocolVersion": params["protocolVersion"]}})
            case "tools/list":
                tell({"id": message["id"], "result": {"tools": [{"name": "codex"}, {"name": "codex-reply"}]}})
            case "tools/call":
                call(message["id"], params["name"], params["arguments"]["prompt"])
            case "notifications/cancelled":
                cancel(params["requestId"])
            case _:
                pass


if __name__ == "__main__":
    main()
