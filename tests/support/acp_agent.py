"""An ACP agent of ours that does what the prompt's words say, and misbehaves on demand. Standard library alone.

`python acp_agent.py [--OPTION[=VALUE]…]`; a prompt is one or several PHRASES, joined by `; then `. Anything else is
said back. Each message is a line; requests are served in threads, so that it hears `session/cancel` meanwhile.
"""

import json
import os
import signal
import subprocess
import sys
import threading
import time
from pathlib import Path
from typing import Any

PHRASES = {
    "say WORDS": "say it",
    "think WORDS": "a thought, then `thought`",
    "count N": "N chunks, 10 ms apart",
    "chunks N SIZE": "N chunks of SIZE bytes, as fast as it goes",
    "plan A, B": "a plan of steps, the first in progress",
    "usage USED SIZE [COST]": "a usage_update",
    "spent TOLD": "a usage_update, and usage with the answer, of so much, be it a number or not",
    "title WORDS": "a session_info_update",
    "commands A, B": "an available_commands_update",
    "mode ID": "a current_mode_update",
    "ask COMMAND": "request permission for it, and run it if it is allowed",
    "ask-about KIND FILE": "request permission to look at it or the like, without a command",
    "ask-both COMMAND": "two different questions about one call, one after the other",
    "ask-odd COMMAND": "request permission without a yes among its options",
    "ask-again COMMAND": "the same question again, when it was answered",
    "ask-twice COMMAND": "the same, with two requests for one call",
    "run COMMAND": "run it as a tool call, and report its output",
    "edit FILE: TEXT": "write the file as a tool call with a diff",
    "start COMMAND": "start it in the background, in its own session, and end the tool call at once",
    "leave COMMAND": "start it in the background without any tool call, in the agent's own group",
    "stream N": "a tool call that sends its whole output again with each of N lines",
    "open": "begin a tool call that is never ended",
    "slow SECONDS": "wait; a cancel ends that",
    "deaf SECONDS": "wait; nothing ends that",
    "die CODE WORDS": "say WORDS on stderr and exit",
    "kill": "kill itself",
    "kill-once FILE": "the same, if there is no such file yet",
    "flood": "1 GiB in one line",
    "babble N": "N lines of 64 KiB that are no JSON",
    "misuse N KIND": "N messages of that kind that nobody can answer",
    "complain N": "the same on stderr",
    "noise WORDS": "print it on stdout, which is no JSON",
    "twice": "answer this prompt twice",
    "error WORDS": "answer this prompt with an error",
    "notify METHOD": "a notification of a method of its own",
    "late WORDS": "say it 0.2 s after the answer",
    "late-count N": "count to N, 50 ms apart, beginning 0.2 s after the answer; a cancel ends that",
    "late-title WORDS": "a session_info_update 0.2 s after the answer",
    "work WORDS": "the same as a tool call and words, 0.2 s after the answer",
    "late-ask COMMAND": "request permission 0.2 s after the answer",
    "die-later": "exit 0.2 s after the answer",
    "unknown": "send a request of an unknown method, and say the error's code",
    "read FILE": "fs/read_text_file, and say what it says",
    "write FILE: TEXT": "fs/write_text_file, and say how it went",
    "lines FIRST MOST FILE": "fs/read_text_file of some lines",
    "terminal COMMAND": "run it in a terminal without a tool call, and say what it wrote and how it ended",
    "terminal-in FOLDER COMMAND": "the same in another directory",
    "shown COMMAND": "run it in a terminal that a tool call shows",
    "terminal-kill COMMAND": "start it in a terminal, kill it when it has written something, and say how it ended",
    "terminal-leave COMMAND": "start it in a terminal, and leave it",
    "terminals N SECONDS COMMAND": "N terminals at once, for so long",
    "offered": "say what the client can do",
    "memory": "say how many messages it remembers",
    "env NAME": "say the variable",
    "servers": "say which MCP servers the session was given, as JSON",
    "serve": "start the first of them, as agents do, and say its process id",
    "stop REASON": "the stop reason of this prompt",
}
OPTIONS = {
    "sessions=FILE": "keep sessions there, so that they can be taken up in another process",
    "no-init": "never answer initialize",
    "no-session": "never answer session/new",
    "die-first=WORDS": "say them on stderr and exit with 3 before initialize is answered",
    "version=N": "the protocol version that it answers",
    "forgets": "session/resume and session/load fail",
    "die-resume": "exit with 4 when a session is to be taken up",
    "late-replay": "replay a loaded session after the answer, not before it",
    "no-resume": "offer no session/resume, only session/load",
    "no-load": "offer neither",
    "string-ids": "ids of its requests are strings",
    "ids-from-zero": "the first of its requests has the id 0",
    "early": "commands are told before session/new is answered",
    "http": "know MCP servers over HTTP",
    "deaf": "don't hear session/cancel",
    "term-deaf": "ignore SIGTERM",
    "cancel-error": "answer a cancelled prompt with an error",
    "no-auth": "session/new wants a login",
    "steering": "offer _session/steering",
    "blind": "take no pictures",
    "modes=MODE": "offer the modes ask, auto and bypass, and begin in that one",
    "options=MODE": "offer the same as config options, with a model and an effort",
    "stays": "refuse to be set to anything",
    "greets": "print a banner on stdout first",
    "helper": "start a helper process at the first prompt, in the own group",
    "stdin-deaf": "read nothing after the first prompt",
}


class Dead(Exception):
    """The turn was cancelled."""


class Agent:
    def __init__(self, options: Any) -> None:
        self.options = options
        self.lock = threading.Lock()
        self.answers: Any = {}
        self.numbers = -1 if "ids-from-zero" in options else 0
        self.calls = 0
        self.cancelled: Any = {}
        self.sessions: Any = {}
        self.said: Any = {}
        self.after: list[Any] = []
        self.kept = Path(options["sessions"]) if "sessions" in options else None
        if self.kept and self.kept.exists():
            self.said = json.loads(self.kept.read_text())

    # --- wire -------------------------------------------------------------------------------------------------------

    def write(self, text: Any) -> None:
        with self.lock:
            sys.stdout.write(text)
            sys.stdout.flush()

    def send(self, message: Any) -> None:
        self.write(json.dumps({"jsonrpc": "2.0", **message}) + "\n")

    def update(self, session: Any, what: Any, **fields: Any) -> None:
        update = {"sessionUpdate": what, **fields}
        self.send({"method": "session/update", "params": {"sessionId": session, "update": update}})

    def words(self, session: Any, text: Any, kind: Any = "agent_message_chunk") -> None:
        self.update(session, kind, content={"type": "text", "text": text})

    def request(self, method: Any, params: Any, cancelled: Any = None) -> Any:
        self.numbers += 1
        number = f"a{self.numbers}" if "string-ids" in self.options else self.numbers
        come = threading.Event()
        self.answers[number] = [come, None]
        self.send({"id": number, "method": method, "params": params})
        while not come.wait(0.02):
            if cancelled is not None and cancelled.is_set():
                raise Dead
        return self.answers.pop(number)[1]

    def run(self) -> None:
        if "greets" in self.options:
            self.write("Welcome to the scripted agent!\n\x1b[1m{not json\x1b[0m\n")
        for line in sys.stdin:
            message = json.loads(line)
            if "method" not in message:
                waiting = self.answers.get(message["id"])
                if waiting:
                    waiting[1] = message
                    waiting[0].set()
            elif message["method"] == "session/cancel":
                self.cancel(message["params"]["sessionId"])
            elif "id" in message:
                threading.Thread(target=self.serve, args=(message,), daemon=True).start()
                if "stdin-deaf" in self.options and message["method"] == "session/prompt":
                    time.sleep(3600)

    def cancel(self, session: Any) -> None:
        if "deaf" not in self.options and session in self.cancelled:
            self.cancelled[session].set()

    def serve(self, message: Any) -> None:
        method, params = message["method"], message.get("params") or {}
        handler = getattr(self, "on_" + method.lstrip("_").replace("/", "_"), None)
        if handler is None:
            self.send({"id": message["id"], "error": {"code": -32601, "message": "Method not found"}})
            return
        try:
            result = handler(params)
        except Failed as error:
            self.send({"id": message["id"], "error": error.args[0]})
            return
        if result is not None:
            self.send({"id": message["id"], "result": result})
            if isinstance(result, dict) and result.pop("_twice", None):
                self.send({"id": message["id"], "result": result})
        after, self.after = self.after, []  # at once: requests are answered side by side
        for late in after:
            threading.Thread(target=late, daemon=True).start()

    # --- methods ----------------------------------------------------------------------------------------------------

    def on_initialize(self, params: Any) -> Any:
        if "die-first" in self.options:
            sys.stderr.write(self.options["die-first"] + "\n")
            sys.stderr.flush()
            os._exit(3)
        if "no-init" in self.options:
            return None
        self.offered = params.get("clientCapabilities")
        can: Any = {} if "no-load" in self.options else {"loadSession": True}
        if not {"no-resume", "no-load"} & set(self.options):
            can["sessionCapabilities"] = {"resume": {}}
        if "http" in self.options:
            can["mcpCapabilities"] = {"http": True}
        steering = {"_meta": {"steering": {"supported": True}}} if "steering" in self.options else {}
        return {
            "protocolVersion": int(self.options.get("version", params.get("protocolVersion", 1))),
            "agentCapabilities": {**can, "promptCapabilities": {"image": "blind" not in self.options}},
            "agentInfo": {"name": "scripted", "version": "1.0"},
            "authMethods": [],
            **steering,
        }

    def on_session_new(self, params: Any) -> Any:
        if "no-auth" in self.options:
            raise Failed({"code": -32000, "message": "Authentication required"})
        if "no-session" in self.options:
            return None
        session = f"s-{os.getpid()}-{len(self.said) + 1}"
        self.said[session] = []
        if "early" in self.options:
            self.do_commands(session, "review, fix")
        return {"sessionId": session, **self.begun(session, params)}

    def begun(self, session: Any, params: Any) -> Any:
        self.sessions[session] = params.get("cwd") or str(Path.cwd())
        self.servers = params.get("mcpServers")
        self.cancelled[session] = threading.Event()
        if "options" in self.options:
            self.chosen = {"mode": self.options["options"] or "ask", "model": "small", "effort": "medium"}
            return {"configOptions": self.config_options()}
        if "modes" not in self.options:
            return {}
        modes = [{"id": one, "name": one.title()} for one in ("ask", "auto", "bypass")]
        return {"modes": {"currentModeId": self.options["modes"] or "ask", "availableModes": modes}}

    def config_options(self) -> Any:
        offered = {
            "mode": ("ask", "auto", "bypass"),
            "model": ("small", "large"),
            "effort": ("medium", "high", "ultra"),
        }
        categories = {"mode": "mode", "model": "model", "effort": "thought_level"}
        return [
            {
                "id": name,
                "name": name.title(),
                "category": categories[name],
                "type": "select",
                "currentValue": self.chosen[name],
                "options": [{"value": one, "name": one.title()} for one in values],
            }
            for name, values in offered.items()
        ]

    def on_session_set_config_option(self, params: Any) -> Any:
        if "options" not in self.options:
            raise Failed({"code": -32601, "message": "Method not found"})
        if "stays" in self.options:
            raise Failed({"code": -32603, "message": "I stay as I am"})
        self.chosen[params["configId"]] = params["value"]
        return {"configOptions": self.config_options()}

    def on_session_resume(self, params: Any) -> Any:
        self.known(params)
        return self.begun(params["sessionId"], params)

    def on_session_load(self, params: Any) -> Any:
        known = list(self.known(params))
        if "late-replay" in self.options:
            self.after.append(lambda: self.replay(params["sessionId"], known))
        else:
            self.replay(params["sessionId"], known)
        return self.begun(params["sessionId"], params)

    def replay(self, session: Any, known: Any) -> None:
        for text in known:
            self.words(session, text, "user_message_chunk")
            self.words(session, f"replayed: {text}")

    def known(self, params: Any) -> Any:
        if "die-resume" in self.options:
            os._exit(4)
        if "forgets" in self.options or params["sessionId"] not in self.said:
            raise Failed({"code": -32002, "message": "Resource not found"})
        return self.said[params["sessionId"]]

    def on_session_set_mode(self, params: Any) -> Any:
        if "stays" in self.options:
            raise Failed({"code": -32603, "message": "I stay as I am"})
        self.update(params["sessionId"], "current_mode_update", currentModeId=params["modeId"])
        return {}

    def on_session_steering(self, params: Any) -> Any:
        if "steering" not in self.options:
            raise Failed({"code": -32601, "message": "Method not found"})
        text = self.text_of(params)
        self.remember(params["sessionId"], text)
        self.words(params["sessionId"], f"(steered: {text})")
        return {"outcome": "injected"}

    def text_of(self, params: Any) -> Any:
        return "".join(block.get("text", "") for block in params["prompt"])

    def remember(self, session: Any, text: Any) -> None:
        self.said[session].append(text)
        if self.kept:  # whole or not at all: it may be killed at any moment
            new = self.kept.with_suffix(f".{os.getpid()}")
            new.write_text(json.dumps(self.said))
            new.replace(self.kept)

    def on_session_prompt(self, params: Any) -> Any:
        session, text = params["sessionId"], self.text_of(params)
        self.remember(session, text)
        cancelled = self.cancelled[session] = threading.Event()
        if "helper" in self.options and len(self.said[session]) == 1:
            subprocess.Popen(["sleep", "300"])
        answer = {"stopReason": "end_turn"}
        try:
            for step in text.split("\n")[-1].split("; then "):
                self.do(session, step.strip(), cancelled, answer)
        except Dead:
            if "cancel-error" in self.options:
                raise Failed({"code": -32603, "message": "aborted"}) from None
            return {"stopReason": "cancelled"}
        return answer

    # --- phrases ----------------------------------------------------------------------------------------------------

    def do(self, session: Any, step: Any, cancelled: Any, answer: Any) -> Any:
        verb, _, rest = step.partition(" ")
        handler = getattr(self, "do_" + verb.replace("-", "_"), None)
        if verb not in {phrase.split()[0] for phrase in PHRASES} or handler is None:
            self.words(session, f"You said: {step}")
        else:
            handler(session, rest, cancelled, answer)

    def do_say(self, session: Any, rest: Any, *_: Any) -> None:
        self.words(session, rest)

    def do_servers(self, session: Any, *_: Any) -> None:
        self.words(session, json.dumps(self.servers))

    def do_serve(self, session: Any, *_: Any) -> None:
        server = self.servers[0]
        env = {**os.environ, **{one["name"]: one["value"] for one in server["env"]}}
        started = subprocess.Popen([server["command"], *server["args"]], env=env, stdin=subprocess.PIPE)
        self.words(session, str(started.pid))

    def do_think(self, session: Any, rest: Any, *_: Any) -> None:
        self.words(session, rest, "agent_thought_chunk")
        self.words(session, "thought")

    def do_count(self, session: Any, rest: Any, cancelled: Any, _: Any) -> None:
        for number in range(int(rest)):
            self.words(session, f"{number + 1} ")
            if cancelled.wait(0.01):
                raise Dead

    def do_chunks(self, session: Any, rest: Any, *_: Any) -> None:
        number, size = map(int, rest.split())
        for __ in range(number):
            self.words(session, "x" * size)

    def do_plan(self, session: Any, rest: Any, *_: Any) -> None:
        steps = [one.strip() for one in rest.split(",")]
        entries = [
            {"content": one, "priority": "medium", "status": "pending" if at else "in_progress"}
            for at, one in enumerate(steps)
        ]
        self.update(session, "plan", entries=entries)

    def do_usage(self, session: Any, rest: Any, *_: Any) -> None:
        used, size, *cost = rest.split()
        more = {"cost": {"amount": float(cost[0]), "currency": "USD"}} if cost else {}
        self.update(session, "usage_update", used=int(used), size=int(size), **more)

    def do_spent(self, session: Any, rest: Any, _: Any, answer: Any) -> None:
        self.spent = getattr(self, "spent", 0) + (int(rest) if rest.isdigit() else 0)
        cost = str(self.spent / 1000) if rest.isdigit() else rest
        told = f'"cost":{{"amount":{cost},"currency":"USD"}},"used":{rest},"size":1000'
        update = f'"sessionUpdate":"usage_update",{told}'
        session = json.dumps(session)
        params = f'{{"sessionId":{session},"update":{{{update}}}}}'
        self.write(f'{{"jsonrpc":"2.0","method":"session/update","params":{params}}}\n')
        answer["usage"] = {"totalTokens": json.loads(rest), "inputTokens": json.loads(rest), "outputTokens": 0}

    def do_title(self, session: Any, rest: Any, *_: Any) -> None:
        self.update(session, "session_info_update", title=rest)

    def do_commands(self, session: Any, rest: Any, *_: Any) -> None:
        commands = [{"name": one.strip(), "description": f"does {one.strip()}"} for one in rest.split(",")]
        self.update(session, "available_commands_update", availableCommands=commands)

    def do_mode(self, session: Any, rest: Any, *_: Any) -> None:
        self.update(session, "current_mode_update", currentModeId=rest)

    def call_id(self) -> Any:
        self.calls += 1
        return f"call-{os.getpid()}-{self.calls}"

    def permission(self, session: Any, call: Any, command: Any, cancelled: Any = None, more: Any = None) -> Any:
        options = [
            {"optionId": "yes", "name": "Yes", "kind": "allow_once"},
            {"optionId": "always", "name": "Yes, always", "kind": "allow_always"},
            {"optionId": "no", "name": "No", "kind": "reject_once"},
        ]
        tool = {"toolCallId": call, "title": command, "kind": "execute", "status": "pending"}
        tool = {**tool, **({"rawInput": {"command": command}} if more is None else more)}
        asked = {"sessionId": session, "toolCall": tool, "options": options}
        answer = self.request("session/request_permission", asked, cancelled)
        outcome = answer.get("result", {}).get("outcome", {})
        if outcome.get("outcome") == "cancelled":
            raise Dead
        return outcome.get("optionId")

    def do_ask(self, session: Any, rest: Any, cancelled: Any, _: Any) -> None:
        call = self.call_id()
        chosen = self.permission(session, call, rest, cancelled)
        self.words(session, f"({chosen}) ")
        if chosen in {"yes", "always"}:
            self.execute(session, call, rest, cancelled)
        else:
            self.update(session, "tool_call_update", toolCallId=call, status="failed")

    def do_ask_about(self, session: Any, rest: Any, cancelled: Any, _: Any) -> None:
        kind, path = rest.split()
        tool = {"kind": kind, "rawInput": {"path": path}, "locations": [{"path": path}]}
        self.words(session, f"({self.permission(session, self.call_id(), rest, cancelled, tool)})")

    def do_ask_both(self, session: Any, rest: Any, cancelled: Any, _: Any) -> None:
        call = self.call_id()
        chosen = [self.permission(session, call, rest, cancelled, {"kind": kind}) for kind in ("other", "execute")]
        self.words(session, f"({' '.join(chosen)})")

    def do_ask_again(self, session: Any, rest: Any, cancelled: Any, _: Any) -> None:
        call = self.call_id()
        chosen = [self.permission(session, call, rest, cancelled) for _ in range(2)]
        self.words(session, f"({' '.join(chosen)})")

    def do_ask_odd(self, session: Any, rest: Any, cancelled: Any, _: Any) -> None:
        tool = {"toolCallId": self.call_id(), "title": rest}
        options = [{"optionId": "no", "name": "No", "kind": "reject_once"}, {"optionId": 3, "kind": "allow_once"}]
        asked = {"sessionId": session, "toolCall": tool, "options": options}
        answer = self.request("session/request_permission", asked, cancelled)
        self.words(session, f"({answer['result']['outcome']['outcome']})")

    def do_ask_twice(self, session: Any, rest: Any, cancelled: Any, _: Any) -> None:
        call = self.call_id()
        chosen: list[str] = []
        both = [
            threading.Thread(target=lambda: chosen.append(self.permission(session, call, rest, cancelled)))
            for _ in range(2)
        ]
        for one in both:
            one.start()
        for one in both:
            one.join()
        self.words(session, f"({' '.join(chosen)})")

    def do_run(self, session: Any, rest: Any, cancelled: Any, _: Any) -> None:
        self.execute(session, self.call_id(), rest, cancelled)

    def execute(self, session: Any, call: Any, command: Any, cancelled: Any) -> None:
        raw = {"command": command}
        about = {"toolCallId": call, "title": command, "kind": "execute", "rawInput": raw}
        self.update(session, "tool_call", status="in_progress", **about)
        child = subprocess.Popen(
            ["bash", "-c", command],
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            start_new_session=True,
            cwd=self.sessions[session],
        )
        done = threading.Event()
        read: list[bytes] = []

        def drain() -> None:
            read.append(child.communicate()[0])
            done.set()

        threading.Thread(target=drain, daemon=True).start()
        while not done.wait(0.01):
            if cancelled.is_set():
                child.terminate()
                raise Dead
        text = read[0].decode("utf-8", "replace")
        status = "completed" if child.returncode == 0 else "failed"
        output = {"exit_code": child.returncode, "output": text}
        content = [{"type": "content", "content": {"type": "text", "text": text}}]
        self.update(session, "tool_call_update", toolCallId=call, status=status, rawOutput=output, content=content)
        self.words(session, text)

    def do_edit(self, session: Any, rest: Any, *_: Any) -> None:
        name, _, text = rest.partition(":")
        path = Path(self.sessions[session]) / name.strip()
        old = path.read_text() if path.exists() else None
        diff = [{"type": "diff", "path": str(path), "oldText": old, "newText": text.strip() + "\n"}]
        call = self.call_id()
        about = {"toolCallId": call, "title": f"Edit {name}", "kind": "edit", "locations": [{"path": str(path)}]}
        self.update(session, "tool_call", status="in_progress", content=diff, **about)
        path.write_text(text.strip() + "\n")
        self.update(session, "tool_call_update", toolCallId=call, status="completed", content=diff)

    def do_start(self, session: Any, rest: Any, *_: Any) -> None:
        call = self.call_id()
        self.update(session, "tool_call", toolCallId=call, title=rest, kind="execute", status="in_progress")
        self.background(rest, start_new_session=True)
        self.update(session, "tool_call_update", toolCallId=call, status="completed")

    def do_leave(self, _: Any, rest: Any, *__: Any) -> None:
        self.background(rest, start_new_session=False)

    def background(self, command: Any, **how: Any) -> None:
        nothing = subprocess.DEVNULL
        subprocess.Popen(["bash", "-c", command], stdin=nothing, stdout=nothing, stderr=nothing, **how)

    def do_stream(self, session: Any, rest: Any, *_: Any) -> None:
        call, text = self.call_id(), ""
        self.update(session, "tool_call", toolCallId=call, title="stream", kind="execute", status="in_progress")
        for number in range(int(rest)):
            text += f"line {number}\n"
            content = [{"type": "content", "content": {"type": "text", "text": text}}]
            self.update(session, "tool_call_update", toolCallId=call, content=content)
        self.update(session, "tool_call_update", toolCallId=call, status="completed")

    def do_open(self, session: Any, *_: Any) -> None:
        call = self.call_id()
        self.update(session, "tool_call", toolCallId=call, title="open", kind="execute", status="in_progress")

    def do_slow(self, _: Any, rest: Any, cancelled: Any, __: Any) -> None:
        if cancelled.wait(float(rest)):
            raise Dead

    def do_deaf(self, _: Any, rest: Any, *__: Any) -> None:
        time.sleep(float(rest))

    def do_die(self, _: Any, rest: Any, *__: Any) -> None:
        code, _, words = rest.partition(" ")
        sys.stderr.write(words + "\n")
        sys.stderr.flush()
        os._exit(int(code))

    def do_kill(self, *_: Any) -> None:
        os.kill(os.getpid(), 9)

    def do_kill_once(self, _: Any, rest: Any, *__: Any) -> None:
        if not Path(rest).exists():
            Path(rest).touch()
            self.do_kill()

    def do_flood(self, *_: Any) -> None:
        self.write('{"jsonrpc": "2.0", "method": "session/update", "params": {"x": "')
        piece = "x" * (1 << 20)
        for __ in range(1 << 10):
            self.write(piece)
        self.write('"}}\n')

    def do_noise(self, _: Any, rest: Any, *__: Any) -> None:
        self.write(f"{rest}\n[1, 2]\n{{}}\n\n")

    def do_babble(self, _: Any, rest: Any, *__: Any) -> None:
        for ___ in range(int(rest)):
            self.write("x" * 65_535 + "\n")

    def do_misuse(self, _: Any, rest: Any, *__: Any) -> None:
        count, kind = rest.split(" ", 1)
        line = {
            "requests": '{"jsonrpc":"2.0","id":"%d","method":"what/is/this","params":{}}',
            "notifications": '{"jsonrpc":"2.0","method":"what/is/this","params":{"n":%d}}',
            "extensions": '{"jsonrpc":"2.0","method":"_what/is/this","params":{"n":%d}}',
            "cancels": '{"jsonrpc":"2.0","method":"$/cancel_request","params":{"requestId":%d}}',
            "answers": '{"jsonrpc":"2.0","id":77%d,"result":{}}',
            "no messages": "what is this %d",
            "half messages": '{"jsonrpc":"2.0","id":%d,"meth',
            "updates without any": '{"jsonrpc":"2.0","method":"session/update","params":{"sessionId":"%d"}}',
        }[kind]
        for begin in range(0, int(count), 500):
            self.write("".join(f"{line % number}\n" for number in range(begin, begin + 500)))

    def do_complain(self, _: Any, rest: Any, *__: Any) -> None:
        for ___ in range(int(rest)):
            sys.stderr.write("x" * 65_535 + "\n")

    def do_notify(self, session: Any, rest: Any, *_: Any) -> None:
        self.send({"method": rest, "params": {"sessionId": session}})

    def do_twice(self, _: Any, __: Any, ___: Any, answer: Any) -> None:
        answer["_twice"] = True

    def do_error(self, _: Any, rest: Any, *__: Any) -> None:
        raise Failed({"code": -32603, "message": "Internal error", "data": {"message": rest}})

    def later(self, work: Any) -> None:
        def after_the_answer() -> Any:
            time.sleep(0.2)
            work()

        self.after = [*self.after, after_the_answer]

    def do_late(self, session: Any, rest: Any, *_: Any) -> None:
        self.later(lambda: self.words(session, rest))

    def do_late_count(self, session: Any, rest: Any, cancelled: Any, _: Any) -> None:
        def count() -> None:
            for number in range(int(rest)):
                if cancelled.wait(0.05):
                    return
                self.words(session, f"{number + 1} ")

        self.later(count)

    def do_late_title(self, session: Any, rest: Any, *_: Any) -> None:
        self.later(lambda: self.update(session, "session_info_update", title=rest))

    def do_work(self, session: Any, rest: Any, cancelled: Any, _: Any) -> None:
        def work() -> Any:
            self.execute(session, self.call_id(), "echo worked", cancelled)
            self.words(session, rest)

        self.later(work)

    def do_late_ask(self, session: Any, rest: Any, *_: Any) -> None:
        self.later(lambda: self.words(session, f"late {self.permission(session, self.call_id(), rest)}"))

    def do_die_later(self, *_: Any) -> None:
        self.later(lambda: os._exit(4))

    def do_unknown(self, session: Any, *_: Any) -> None:
        answer = self.request("terminal/does_not_exist", {})
        self.words(session, f"code {answer['error']['code']}")

    def do_read(self, session: Any, rest: Any, *_: Any) -> None:
        path = str(Path(self.sessions[session]) / rest)
        answer = self.request("fs/read_text_file", {"sessionId": session, "path": path})
        self.words(session, answer["result"]["content"] if "result" in answer else answer["error"]["message"])

    def said_error(self, session: Any, answer: Any) -> Any:
        error = answer["error"]
        self.words(session, f"{error['code']} {error['message']}")

    def do_write(self, session: Any, rest: Any, *_: Any) -> None:
        name, _, content = rest.partition(": ")
        path = str(Path(self.sessions[session]) / name)
        answer = self.request("fs/write_text_file", {"sessionId": session, "path": path, "content": content})
        self.words(session, "written") if "result" in answer else self.said_error(session, answer)

    def do_lines(self, session: Any, rest: Any, *_: Any) -> None:
        first, most, name = rest.split()
        path = str(Path(self.sessions[session]) / name)
        about = {"sessionId": session, "path": path, "line": int(first), "limit": int(most)}
        answer = self.request("fs/read_text_file", about)
        self.words(session, answer["result"]["content"]) if "result" in answer else self.said_error(session, answer)

    def terminal(self, session: Any, command: Any, **more: Any) -> Any:
        about = {"sessionId": session, "command": "bash", "args": ["-c", command], **more}
        answer = self.request("terminal/create", about)
        if "error" in answer:
            self.said_error(session, answer)
            return None
        return {"sessionId": session, "terminalId": answer["result"]["terminalId"]}

    def do_terminal(self, session: Any, rest: Any, *_: Any) -> None:
        if named := self.terminal(session, rest, outputByteLimit=20, env=[{"name": "MORE", "value": "more"}]):
            self.told_end(session, named)

    def do_terminal_in(self, session: Any, rest: Any, *_: Any) -> None:
        folder, _, command = rest.partition(" ")
        self.told_end(session, self.terminal(session, command, cwd=str(Path(self.sessions[session]) / folder)))

    def told_end(self, session: Any, named: Any) -> None:
        status = self.request("terminal/wait_for_exit", named)["result"]
        output = self.request("terminal/output", named)["result"]
        self.request("terminal/release", named)
        gone = self.request("terminal/output", named)["error"]["code"]
        told = [output["output"], output["truncated"], status["exitCode"], status["signal"], gone]
        self.words(session, json.dumps(told))

    def do_shown(self, session: Any, rest: Any, *_: Any) -> None:
        call = self.call_id()
        about = {"toolCallId": call, "title": rest, "kind": "execute", "rawInput": {"command": rest}}
        self.update(session, "tool_call", status="pending", **about)
        named = self.terminal(session, rest)
        content = [{"type": "terminal", "terminalId": named["terminalId"]}]
        self.update(session, "tool_call_update", toolCallId=call, status="in_progress", content=content)
        self.request("terminal/wait_for_exit", named)
        self.request("terminal/release", named)
        self.update(session, "tool_call_update", toolCallId=call, status="completed")

    def do_terminal_kill(self, session: Any, rest: Any, *_: Any) -> None:
        named = self.terminal(session, rest)
        while not self.request("terminal/output", named)["result"]["output"]:
            time.sleep(0.005)
        self.request("terminal/kill", named)
        self.told_end(session, named)

    def do_terminal_leave(self, session: Any, rest: Any, *_: Any) -> None:
        named = self.terminal(session, rest)
        while not self.request("terminal/output", named)["result"]["output"]:
            time.sleep(0.005)

    def do_terminals(self, session: Any, rest: Any, cancelled: Any, _: Any) -> None:
        count, seconds, command = rest.split(" ", 2)
        for ___ in range(int(count)):
            self.terminal(session, command)
        cancelled.wait(float(seconds))

    def do_offered(self, session: Any, *_: Any) -> None:
        self.words(session, json.dumps(self.offered))

    def do_memory(self, session: Any, *_: Any) -> None:
        self.words(session, f"I remember {len(self.said[session])} messages")

    def do_env(self, session: Any, rest: Any, *_: Any) -> None:
        self.words(session, f"{rest}={os.environ.get(rest)}")

    def do_stop(self, _: Any, rest: Any, __: Any, answer: Any) -> None:
        answer["stopReason"] = rest


class Failed(Exception):
    """A request is answered with this error."""


def main(argv: Any) -> None:
    options = dict(one.removeprefix("--").partition("=")[::2] for one in argv)
    if unknown := set(options) - {one.partition("=")[0] for one in OPTIONS}:
        sys.exit(f"unknown options: {', '.join(unknown)}")
    if "term-deaf" in options:
        signal.signal(signal.SIGTERM, signal.SIG_IGN)
    Agent(options).run()


if __name__ == "__main__":
    main(sys.argv[1:])
