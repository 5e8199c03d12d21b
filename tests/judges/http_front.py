"""HTTP before one stdio server of the stateless revision, because the conformance suite speaks HTTP alone.

A POST is a line; its answer is what comes for its id: one JSON object, or a stream if something comes before. Ids
are counted anew, as all requests share one server. Statuses are those of the specification's binding to HTTP.
"""

import contextlib
import json
import queue
import subprocess
import threading
from collections.abc import Iterator
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from itertools import count
from pathlib import Path
from typing import Any

from tests.judges.installed import END_S, end_group

Json = dict[str, Any]
STATUS = {-32601: 404, -32600: 400, -32602: 400, -32020: 400, -32021: 400, -32022: 400}
SUBSCRIPTION = "io.modelcontextprotocol/subscriptionId"
PATIENCE_S = 30.0  # for one message; the suite hangs up long before


class Exchange:
    """One request and what came for it."""

    def __init__(self, given: Json) -> None:
        self.id = given["id"]
        self.token = given.get("params", {}).get("_meta", {}).get("progressToken")
        self.heard: queue.Queue[Json] = queue.Queue()


class Front:
    def __init__(self, program: Path) -> None:
        self._process = subprocess.Popen(
            [str(program)], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True, start_new_session=True
        )
        self._numbers = count(1)
        self._open: dict[int, Exchange] = {}
        self._writing = threading.Lock()
        self._listener = threading.Thread(target=self._listen, daemon=True)
        self._listener.start()

    def ask(self, given: Json) -> tuple[int, Exchange]:
        number, exchange = next(self._numbers), Exchange(given)
        self._open[number] = exchange
        self.say({**given, "id": number})
        return number, exchange

    def say(self, message: Json) -> None:
        assert self._process.stdin is not None
        with self._writing:
            self._process.stdin.write(json.dumps(message) + "\n")
            self._process.stdin.flush()

    def leave(self, number: int, *, answered: bool) -> None:
        del self._open[number]
        if not answered:
            params = {"requestId": number}
            self.say({"jsonrpc": "2.0", "method": "notifications/cancelled", "params": params})

    def end(self) -> None:
        assert self._process.stdin is not None
        self._process.stdin.close()
        with contextlib.suppress(subprocess.TimeoutExpired):
            self._process.wait(END_S)
        end_group(self._process)
        self._listener.join(END_S)
        for pipe in (self._process.stdin, self._process.stdout):
            if pipe is not None:
                pipe.close()

    def _listen(self) -> None:
        assert self._process.stdout is not None
        for line in self._process.stdout:
            message = json.loads(line)
            for exchange in self._meant(message):
                exchange.heard.put(message)

    def _meant(self, message: Json) -> list[Exchange]:
        """The exchanges that a message belongs to; what names none belongs to all. Sets its ids right."""
        if "method" not in message:
            exchange = self._open.get(message["id"])
            message["id"] = exchange.id if exchange else message["id"]
            return [exchange] if exchange else []
        params = message.get("params", {})
        number = params.get("_meta", {}).get(SUBSCRIPTION)
        if number is not None:
            exchange = self._open.get(number)
            if exchange:
                params["_meta"][SUBSCRIPTION] = exchange.id
            return [exchange] if exchange else []
        token = params.get("progressToken")
        return [one for one in list(self._open.values()) if token is None or one.token == token]


class Handler(BaseHTTPRequestHandler):
    front: Front

    def do_POST(self) -> None:
        given = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
        if "id" not in given:
            self.front.say(given)
            self._begin(202, "application/json")
            return
        number, exchange = self.front.ask(given)
        answered = False
        try:
            first = exchange.heard.get(timeout=PATIENCE_S)
            if "method" not in first:
                answered = True
                self._begin(STATUS.get(first.get("error", {}).get("code"), 200), "application/json")
                self.wfile.write(json.dumps(first).encode())
                return
            self._begin(200, "text/event-stream")
            answered = self._stream(first, exchange)
        except (OSError, queue.Empty):
            return  # it has hung up, which takes the request back
        finally:
            self.front.leave(number, answered=answered)

    def _stream(self, message: Json, exchange: Exchange) -> bool:
        while True:
            self.wfile.write(b"data: " + json.dumps(message).encode() + b"\n\n")
            self.wfile.flush()
            if "method" not in message:
                return True
            message = exchange.heard.get(timeout=PATIENCE_S)

    def _begin(self, status: int, kind: str) -> None:
        self.send_response(status)
        self.send_header("Content-Type", kind)
        self.send_header("Connection", "close")
        self.end_headers()

    def log_message(self, *_: object) -> None:
        """Say nothing."""


@contextlib.contextmanager
def fronted(program: Path) -> Iterator[str]:
    """The address of a front before this program, on the loopback."""
    front = Front(program)
    handler = type("FrontHandler", (Handler,), {"front": front})
    with ThreadingHTTPServer(("127.0.0.1", 0), handler) as server:
        threading.Thread(target=server.serve_forever, daemon=True).start()
        try:
            yield f"http://localhost:{server.server_address[1]}/mcp"
        finally:
            server.shutdown()
            front.end()
