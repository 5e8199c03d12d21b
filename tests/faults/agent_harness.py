"""A daemon whose conversations are carried out by the scripted agent, and scenes to interrupt or to kill in."""

import json
import sys
from dataclasses import dataclass, field
from pathlib import Path

from tests.faults.caller import Caller, Message
from tests.faults.daemon_harness import DEMO, DaemonHarness, until
from tests.faults.follower import TERMINAL, Follower, judge
from tests.support import acp_agent

PROGRAM = Path(acp_agent.__file__)
TOKEN = "/the-command-of-this-scene"
AGENTS = {
    "polite": (),
    "deaf": ("deaf",),
    "term_deaf": ("deaf", "term-deaf"),
    "helped": ("helper",),
}


def config(more: str = "") -> str:
    """A config with a scripted agent of each kind. Sessions are kept in the directory of each conversation."""
    return "\n".join([DEMO.replace('"never"', '"untrusted"'), *map(_table, AGENTS), _LIMITS.format(more=more)])


_LIMITS = """
[greenroom]
interrupt_grace_ms = 150
drain_seconds = 0
limits.agents = 100
{more}
"""


def _table(name: str) -> str:
    args = [str(PROGRAM), "--sessions=sessions.json", *(f"--{option}" for option in AGENTS[name])]
    return f'[agents.{name}]\ncommand = "{sys.executable}"\nargs = {json.dumps(args)}\nconfine = "none"\n'


def agents_of(harness: DaemonHarness) -> dict[int, str]:
    """The programs of agents that live."""
    return {pid: line for pid, line in harness.processes().items() if str(PROGRAM) in line}


def begun_by_agents(harness: DaemonHarness) -> dict[int, str]:
    """Everything alive that agents have begun."""
    return {pid: line for pid, line in harness.processes().items() if str(PROGRAM) not in line}


@dataclass(slots=True)
class AgentScene:
    """One conversation with an agent, and the words that its only turn begins with."""

    harness: DaemonHarness
    caller: Caller
    name: str
    agent: str = "polite"
    conversation: str = ""
    left: dict[int, str] = field(default_factory=dict)
    follower: Follower = None  # type: ignore[assignment]  # set by `open`, before anybody looks

    @property
    def token(self) -> str:
        """A word in a command's arguments, so that it is found even if it cleans its environment."""
        return f"{self.cwd}{TOKEN}"

    @property
    def cwd(self) -> Path:
        return self.harness.home / self.name

    def open(self) -> None:
        self.cwd.mkdir()
        self.conversation = self.caller.create(agent=self.agent, cwd=str(self.cwd))
        self.follower = Follower(self.conversation, self._told)
        self.follower.attach(self.caller)

    def _told(self, _: Follower, event: Message) -> None:
        """Look what is alive in the moment in which an interrupted turn's end is told."""
        if event["event"]["type"] == "turn_aborted":
            self.left.update(self.living())

    def say(self, words: str) -> None:
        self.caller.send(self.conversation, words)

    def ended(self, times: int) -> None:
        """Wait until so many turns have had their end."""
        self.follower.wait(lambda: self.follower.count(*TERMINAL) >= times, "a turn had no end")

    def living(self) -> dict[int, str]:
        """Everything alive that its agent has begun, by the conversation's mark, and by the word.

        Some have the mark of another conversation, and their own word.
        """
        marks = (f"GREENROOM_CONVERSATION={self.conversation}", self.token)
        found = {pid: line for pid, line in self.harness.processes(*marks).items() if str(PROGRAM) not in line}
        return {pid: line for pid, line in found.items() if self.token in line or TOKEN not in line}

    def check_next_turn(self) -> None:
        """Assert that the next turn is one like any other, whether its agent lived on or is another."""
        words = f"next after {self.name}"
        assert self.caller.send(self.conversation, f"say {words}", wait=True)["ending"] == "completed"
        history = self.caller.history(self.conversation)
        judge(history)
        self.follower.wait_seq(history[-1]["seq"])
        self.follower.check(history)
        said = [one["event"]["message"] for one in history if one["event"]["type"] == "agent_message"]
        assert said.count(words) == 1, said
        self.caller.delete(self.conversation)
        until(lambda: not self.living(), "something outlived its conversation")
