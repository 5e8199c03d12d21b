"""An engine whose conversations were given MCP servers: `python giving_engine.py HOME MODEL_URL SECRET WORD`.

One has no sandbox, one has. Logs everything, says so when both have used their servers, and lives until it is killed.
The word is an argument of the servers, by which they are found.
"""

import sys
import threading
from pathlib import Path

from actors.vocabulary.settings import DangerFullAccess, WorkspaceWrite
from supervisor.logs.setup import configure
from tests.support.engine_harness import harness_at
from tests.support.given_servers import give, program
from transports.supervisor_requests import GivenServer


def main(home: str, model_url: str, secret: str, word: str) -> None:
    configure(Path(home) / "everything.log", "debug")
    headers = {"X-Key": secret}
    nowhere = GivenServer("nowhere", kind="http", url=f"http://127.0.0.1:1/?key={secret}", headers=headers)
    refusing = GivenServer("refusing", kind="http", url=f"{model_url}/mcp?key={secret}", headers=headers)
    with harness_at(Path(home), model_url) as harness:
        for sandbox in (DangerFullAccess(), WorkspaceWrite()):
            talk = harness.talk(sandbox=sandbox)
            give(harness, talk, program("toys", "stays", word, KEY=secret), nowhere, refusing)
            talk.ask("call toys__echo {}; then; say done")
        print("used", flush=True)
        threading.Event().wait()


if __name__ == "__main__":
    main(*sys.argv[1:])
