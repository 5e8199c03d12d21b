"""`greenroom run` and `send`: say something, and watch what becomes of it."""

import sys
from argparse import Namespace

from supervisor.cli import exits, ids
from supervisor.cli.arguments import pairs, seconds
from supervisor.cli.client import Control, Json, Refused
from supervisor.cli.problems import Problem
from supervisor.cli.show.watch import Manner, Watch, coming_back
from supervisor.cli.starting import ensure
from supervisor.cli.written import json_text

LONGEST_S = 10 * 365 * 86400.0  # a turn may wait for a person


def run(chosen: Namespace) -> int:
    prompt = prompt_of(chosen.prompt)
    with ensure("run", environment=True) as control:
        made = control.call("conversation/create", **creation(chosen))
        conversation = made["conversation"]
        notice = made["notice"] if chosen.detach else None  # whoever watches sees it in the turn
        for line in (notice, *made["warnings"]):
            if line:
                print(f"greenroom: {line}", file=sys.stderr)
        try:
            if not chosen.detach:
                return _watched(control, conversation, 0, {"prompt": prompt}, as_json=chosen.json)
            control.call("conversation/send", conversation=conversation, prompt=prompt)
        except Refused:
            _without_an_empty_one(control, conversation)
            raise
    print(json_text({"conversation": conversation}) if chosen.json else conversation)
    return 0


def _without_an_empty_one(control: Control, conversation: str) -> None:
    """What was to be said in it was refused. If nothing else was, nobody would know what it is for."""
    found = control.call("conversation/get", conversation=conversation)
    if found["turn"] is None and not (found["preview"] or found["queued"]):
        control.call("conversation/delete", conversation=conversation)


def send(chosen: Namespace) -> int:
    prompt = prompt_of(chosen.prompt)
    limit_s = seconds(chosen.timeout) if chosen.timeout else None
    with Control("send", environment=True) as control:
        conversation = ids.resolved(control, chosen.conversation)
        said = {"prompt": prompt, "if_busy": chosen.if_busy, "key": chosen.key}
        if chosen.wait:
            return _watched(control, conversation, None, said, as_json=chosen.json, limit_s=limit_s)
        accepted = control.call("conversation/send", conversation=conversation, **said)
        told = _accepted(control, conversation, accepted, chosen.if_busy)
    if chosen.json:
        print(json_text({"conversation": conversation, **accepted}))
    else:
        print(told)
    return 0


def prompt_of(word: str) -> str:
    if word == "-":
        word = sys.stdin.read()
    if not word.strip():
        raise Problem("nothing to say", "give a prompt, or - and write it to standard input", "usage")
    try:
        word.encode()
    except UnicodeEncodeError as error:
        raise Problem("the prompt is not UTF-8", "Greenroom takes text only", "usage") from error
    return word


def creation(chosen: Namespace) -> Json:
    return {
        "name": None if chosen.name is None else ids.proper(chosen.name),
        "cwd": chosen.cwd,
        "model": chosen.model,
        "profile": chosen.profile,
        "approval_policy": chosen.approval,
        "sandbox": chosen.sandbox,
        "config": pairs(chosen.config),
    }


def _accepted(control: Control, conversation: str, accepted: Json, if_busy: str) -> str:
    """What becomes of it. A turn that is being stopped reads nothing any more: what was to join it comes after it."""
    if accepted["duplicate"]:
        return "taken before, under the same key"
    if accepted["turn"]:
        return "taken"
    if if_busy == "enqueue":
        return f"waits for a turn of its own, {accepted['queued']} in the queue"
    if if_busy == "interrupt":
        return "takes the running turn's place"
    stopping = control.call("conversation/get", conversation=conversation)["state"] == "interrupting"
    return "waits until the turn that is being stopped has ended" if stopping else "joins the running turn"


def _watched(
    control: Control, conversation: str, after: int | None, said: Json, *, as_json: bool, limit_s: float | None = None
) -> int:
    watch = Watch(control, conversation, Manner(as_json=as_json))

    def work() -> int:
        watch.attach(after)
        request = control.send("conversation/send", conversation=conversation, wait=True, **said)
        result = watch.until_answered(request, limit_s)
        return exits.of_turn(result["ending"], denied=watch.ending.denied)

    return coming_back(conversation, work)
