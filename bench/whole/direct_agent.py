"""An agent spoken to over its pipe by the standard library alone: the least that its turns cost.

python -m bench.whole.direct_agent PROMPT   prints the seconds of the prompt, and the seconds of CPU of reading it
"""

import json
import subprocess
import sys
import time
from pathlib import Path
from typing import Any, Self

from tests.faults.daemon_harness import ROOT
from tests.support import acp_agent

PROGRAM = Path(acp_agent.__file__)


class DirectAgent:
    def __init__(self, cwd: Path) -> None:
        self._process = subprocess.Popen(
            [sys.executable, str(PROGRAM)], stdin=subprocess.PIPE, stdout=subprocess.PIPE, cwd=cwd
        )
        self._cwd = cwd
        self._number = 0
        self._session = ""

    def __enter__(self) -> Self:
        self.ask("initialize", {"protocolVersion": 1, "clientCapabilities": {}})
        self._session = self.ask("session/new", {"cwd": str(self._cwd), "mcpServers": []})["sessionId"]
        return self

    def __exit__(self, *_: object) -> None:
        self._process.kill()
        self._process.communicate()

    def ask(self, method: str, params: dict[str, Any]) -> Any:
        """Ask, and read all messages until the answer."""
        self._number += 1
        line = json.dumps({"jsonrpc": "2.0", "id": self._number, "method": method, "params": params})
        assert self._process.stdin is not None
        assert self._process.stdout is not None
        self._process.stdin.write(line.encode() + b"\n")
        self._process.stdin.flush()
        while True:
            message = json.loads(self._process.stdout.readline())
            if message.get("id") == self._number:
                return message["result"]

    def prompt(self, words: str) -> None:
        self.ask("session/prompt", {"sessionId": self._session, "prompt": [{"type": "text", "text": words}]})


def read_alone(words: str) -> tuple[float, float]:
    """A prompt's seconds, and the seconds of CPU of a process that does nothing but read its updates."""
    command = [sys.executable, "-m", "bench.whole.direct_agent", words]
    took, used = subprocess.run(command, cwd=ROOT, check=True, capture_output=True, text=True).stdout.split()
    return float(took), float(used)


def main() -> None:
    with DirectAgent(Path.cwd()) as agent:
        agent.prompt("say x")
        began, used = time.perf_counter(), time.process_time()
        agent.prompt(sys.argv[1])
        print(time.perf_counter() - began, time.process_time() - used)


if __name__ == "__main__":
    main()
