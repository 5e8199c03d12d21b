"""`greenroom wait`: wait until turns have ended, or ask for an approval."""

import time
from argparse import Namespace

from actors.vocabulary.visible_text import visible
from supervisor.cli.kit import approval_text, exits, histories, ids, reconnecting
from supervisor.cli.kit.client import Control, DaemonLost, Json
from supervisor.cli.kit.json_output import json_text
from supervisor.cli.kit.problems import Problem
from supervisor.cli.kit.turn_outcome import TurnOutcome

LOOK_BACK = 200  # events in which to look for the end of the last turn
HEAR_S = 1.0  # at a time, so that a daemon that does not answer is noticed
WAIT_GOALS = {"idle": "the turn to end", "done": "the turn to end", "approval": "an approval"}


def run(chosen: Namespace) -> int:
    deadline = time.monotonic() + chosen.timeout if chosen.timeout is not None else None
    with Control("wait") as control:
        targets = [_Target(control, name, chosen.until) for name in chosen.conversation]

        def check_deadline() -> None:
            if deadline is not None and time.monotonic() >= deadline:
                raise _timeout_problem([target for target in targets if not target.is_reached], chosen)

        heartbeat = reconnecting.Heartbeat(
            control, lambda slow: reconnecting.say(reconnecting.SLOW_NOTICE if slow else reconnecting.ANSWERS_NOTICE)
        )
        while not all(target.is_reached for target in targets):
            check_deadline()
            try:
                _hear(control, targets, heartbeat, deadline)
            except DaemonLost as lost:
                reconnecting.await_return(lost, reconnecting.say, check_deadline)
                heartbeat.reset()
                for target in targets:
                    target.detach()
    for target in targets:
        print(json_text(target.result()) if chosen.json else f"{visible(target.name)}: {target.words()}")
    return _code([target.exit for target in targets])


def _hear(
    control: Control, targets: list["_Target"], heartbeat: reconnecting.Heartbeat, deadline: float | None
) -> None:
    """Receive messages of the daemon for a second."""
    for target in targets:
        target.attach_again(control)
    for message in control.messages(HEAR_S if deadline is None else min(HEAR_S, deadline - time.monotonic())):
        heartbeat.reset()
        for target in targets:
            target.take(message)
    heartbeat.look()


def _code(codes: list[int]) -> int:
    """The exit code that all targets share, or the code for some that failed."""
    return codes[0] if len(set(codes)) == 1 else exits.SOME_FAILED


def _timeout_problem(targets: list["_Target"], chosen: Namespace) -> Problem:
    names = [target.name for target in targets]
    return Problem(
        f"timed out waiting for {WAIT_GOALS[chosen.until]}: {', '.join(names)}",
        f"`greenroom status {' '.join(names)}` shows why",
        "timed_out",
    )


class _Target:
    def __init__(self, control: Control, name: str, until: str) -> None:
        self.name = name
        self._until = until
        self.conversation = ids.resolve_id(control, name)
        answer = control.call("conversation/attach", conversation=self.conversation, after=None, read_only=True)
        self._subscription, summary = answer["subscription"], answer["summary"]
        self._seq = int(summary["seq"])
        self._asks = bool(summary["pending"])
        self.ending = TurnOutcome()
        self._ended = False
        self._learn(control, summary)

    def _learn(self, control: Control, summary: Json) -> None:
        """Read the events of the turn so far, or of the last turn with its end."""
        after = max(0, summary["seq"] - LOOK_BACK)
        for envelope in histories.events(control, self.conversation, after, summary["seq"]):
            self.ending.take(envelope["event"])
        self.ending.is_open = summary["turn"] is not None
        self._ended = not self.ending.is_open

    def detach(self) -> None:
        """Forget the subscription: a new daemon sends nothing before we have attached again."""
        self._subscription = ""

    def attach_again(self, control: Control) -> None:
        """Attach after the last event that came, unless attached or done."""
        if self._subscription or self.is_reached:
            return
        params: Json = {"conversation": self.conversation, "after": self._seq, "read_only": True}
        self._subscription = control.call("conversation/attach", **params)["subscription"]

    def take(self, message: Json) -> None:
        params = message.get("params") or {}
        if params.get("subscription") != self._subscription:
            return
        if message.get("method") == "ended":
            raise Problem(f"{self.name}: {params.get('reason')}", "run the same command again", "actor_gone")
        for envelope in params.get("events", ()):
            body = envelope["event"]
            self._seq = envelope["seq"] or self._seq
            if self.is_reached and self._until != "idle":
                return  # the answer is known: this turn has ended, or asks
            self.ending.take(body)
            self._asks = self._asks or body["type"] == approval_text.QUESTION
            self._ended = self._ended or (self._until != "idle" and self.ending.ending is not None)
        self._ended = self._ended or (self._until == "idle" and not self.ending.is_open)

    @property
    def is_reached(self) -> bool:
        return self._ended or (self._until == "approval" and self._asks)

    @property
    def exit(self) -> int:
        if self._until == "approval" and not self._asks:
            return exits.FAILED
        return self.ending.exit if self._until == "done" else exits.OK

    def words(self) -> str:
        how = self.ending.ending or "idle"
        if self._until == "approval":
            asks = "waits for an approval (`greenroom approvals`)"
            return asks if self._asks else f"{how}, without asking for an approval"
        return how if self._until == "done" else "idle"

    def result(self) -> Json:
        asked_nothing = self._until == "approval" and not self._asks
        ending = self.ending.ending if self._until == "done" or asked_nothing else None
        reached = "idle" if asked_nothing else self._until
        return {"conversation": self.conversation, "reached": reached, "ending": ending}
