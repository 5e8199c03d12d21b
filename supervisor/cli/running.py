"""`greenroom run` and `send`: send a message, and watch its turn."""

import os
import sys
from argparse import Namespace
from contextlib import AbstractContextManager, nullcontext

from supervisor.cli import exits, ids
from supervisor.cli.arguments import pairs
from supervisor.cli.client import Control, Json, Refused
from supervisor.cli.problems import Problem
from supervisor.cli.setting import in_the_api, of_options
from supervisor.cli.show.watch import Watch, WatchOptions, coming_back
from supervisor.cli.starting import ensure
from supervisor.cli.words import many
from supervisor.cli.written import json_text


def run(chosen: Namespace) -> int:
    prompt = prompt_of(chosen.prompt)
    with ensure("run", environment=True) as control:
        with _worktree(chosen, prompt):
            made = control.call("conversation/create", **_with_model(creation(chosen), chosen))
        conversation = made["conversation"]
        notice = made["notice"] if chosen.detach else None  # a watched turn shows the notice
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


def _worktree(chosen: Namespace, prompt: str) -> AbstractContextManager[None]:
    """Make the worktree that was asked for, and let the conversation begin in it."""
    if chosen.worktree is None:
        return nullcontext()
    from supervisor.cli.worktree import in_a_new_one  # few conversations have one

    return in_a_new_one(chosen, prompt)


def _with_model(creation: Json, chosen: Namespace) -> Json:
    """The settings with the options of `run` alone. They win over `-c`, as the other options do."""
    effort = {} if chosen.effort is None else {"model_reasoning_effort": chosen.effort}
    roots = {} if chosen.writable_roots is None else in_the_api([("writable_roots", chosen.writable_roots)])
    return {**creation, **roots, "provider": chosen.provider, "config": {**creation["config"], **effort}}


def _without_an_empty_one(control: Control, conversation: str) -> None:
    """Delete a conversation that is empty, as its first message was refused: nobody would know what it is for."""
    found = control.call("conversation/get", conversation=conversation)
    if found["turn"] is None and not (found["preview"] or found["queued"]):
        control.call("conversation/delete", conversation=conversation)


def send(chosen: Namespace) -> int:
    prompt = prompt_of(chosen.prompt)
    if chosen.key == "":
        raise Problem("the idempotency key is empty", "write --key KEY, or leave it out", "usage")
    with Control("send", environment=True) as control:
        conversation = ids.resolved(control, chosen.conversation)
        said = {"prompt": prompt, "if_busy": chosen.if_busy, "key": chosen.key, "settings": of_options(chosen)}
        if chosen.wait:
            return _watched(control, conversation, None, said, as_json=chosen.json, limit_s=chosen.timeout)
        accepted = control.call("conversation/send", conversation=conversation, **said)
        policy = "enqueue" if said["settings"] and chosen.if_busy == "steer" else chosen.if_busy
        told = _accepted(control, conversation, accepted, policy)
    if chosen.json:
        print(json_text({"conversation": conversation, **accepted}))
    else:
        print(told)
    return 0


def compact(chosen: Namespace) -> int:
    with Control("compact", environment=True) as control:
        conversation = ids.resolved(control, chosen.conversation)
        if not chosen.detach:
            limit_s, method = chosen.timeout, "conversation/compact"
            return _watched(control, conversation, None, {}, as_json=chosen.json, limit_s=limit_s, method=method)
        accepted = control.call("conversation/compact", conversation=conversation)
    if chosen.json:
        print(json_text({"conversation": conversation, **accepted}))
    else:
        print("summing up" if accepted["turn"] else "waits for the running turn")
    return 0


def prompt_of(word: str) -> str:
    if word == "-":
        word = sys.stdin.read()
    if not word.strip():
        raise Problem("the prompt is empty", "write a prompt, or - to read it from standard input", "usage")
    try:
        word.encode()
    except UnicodeEncodeError as error:
        raise Problem("the prompt is not UTF-8", "write it in UTF-8", "usage") from error
    return word


def creation(chosen: Namespace) -> Json:
    """The settings of a new conversation. A missing directory is refused, as a slip; other clients may mean it."""
    if chosen.cwd is not None and not os.path.isdir(chosen.cwd):  # noqa: PTH112  # pathlib is slow to import
        raise Problem(f"there is no directory {chosen.cwd!r}", "-C takes a directory that exists", "usage")
    return {
        "name": None if chosen.name is None else ids.proper(chosen.name),
        "cwd": chosen.cwd,
        "agent": chosen.agent,
        "model": chosen.model,
        "profile": chosen.profile,
        "approval_policy": chosen.approval,
        "sandbox": chosen.sandbox,
        "config": pairs(chosen.config),
    }


def _accepted(control: Control, conversation: str, accepted: Json, if_busy: str) -> str:
    """A sentence on what becomes of the message. While a turn is being stopped, it waits for the end of that turn."""
    if accepted["duplicate"]:
        return "already sent with this key"
    if accepted["turn"]:
        after = many(accepted["queued"], "queued message runs", "queued messages run")
        return f"sent; {after} after it" if accepted["queued"] else "sent"
    if if_busy == "enqueue":
        return f"queued; {many(accepted['queued'], 'message waits', 'messages wait')}"
    if if_busy == "interrupt":
        return "replaces the running turn"
    stopping = control.call("conversation/get", conversation=conversation)["state"] == "interrupting"
    return "queued until the turn that is being stopped has ended" if stopping else "joins the running turn"


def _watched(
    control: Control,
    conversation: str,
    after: int | None,
    said: Json,
    *,
    as_json: bool,
    limit_s: float | None = None,
    method: str = "conversation/send",
) -> int:
    watch = Watch(control, conversation, WatchOptions(as_json=as_json))

    def work() -> int:
        watch.attach(after)
        request = control.send(method, conversation=conversation, wait=True, **said)
        result = watch.until_answered(request, limit_s)
        return exits.of_turn(result["ending"], denied=watch.ending.denied)

    return coming_back(conversation, work)
