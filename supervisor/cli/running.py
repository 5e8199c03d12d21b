"""`greenroom run` and `send`: send a message, and watch its turn."""

import sys
from argparse import Namespace
from contextlib import AbstractContextManager, nullcontext

from greenroom.answers import CreatedConversation
from supervisor.cli.held_messages import held_notice
from supervisor.cli.kit import exits, ids
from supervisor.cli.kit.arguments import directory, pairs
from supervisor.cli.kit.client import Control, Json, RequestRefused
from supervisor.cli.kit.formatting import plural
from supervisor.cli.kit.json_output import json_text
from supervisor.cli.kit.problems import Problem
from supervisor.cli.setting import api_settings, settings_of_options
from supervisor.cli.show.watch import Watch, WatchOptions, fresh_key, run_with_way_back
from supervisor.cli.starting import connect_or_start


def run(chosen: Namespace) -> int:
    prompt = prompt_of(chosen.prompt)
    said = _message(prompt, chosen.image)
    with connect_or_start("run", environment=True) as control:
        with _worktree(chosen, prompt) as worktree:
            made = _create(control, _with_model(creation(chosen), chosen), worktree)
        conversation = made.conversation
        if chosen.image:
            from supervisor.cli.pictures import check_sight_or_delete

            check_sight_or_delete(control, conversation, chosen)
        notice = made.notice if chosen.detach else None  # a watched turn shows the notice
        for line in (notice, *made.warnings):
            if line:
                print(f"greenroom: {line}", file=sys.stderr)
        try:
            if not chosen.detach:
                return _watch_turn(control, conversation, 0, said, as_json=chosen.json)
            control.call("conversation/send", conversation=conversation, **said)
        except RequestRefused:
            _delete_if_empty(control, conversation)
            raise
    print(json_text({"conversation": conversation}) if chosen.json else conversation)
    return 0


def _create(control: Control, creation: Json, worktree: str | None) -> CreatedConversation:
    """Create the conversation. Without a name it gets that of its worktree, unless that is taken."""
    if worktree is not None and creation["name"] is None:
        try:
            return control.create(**{**creation, "name": worktree})
        except RequestRefused as refusal:
            if refusal.code not in {"name_taken", "invalid_input"}:
                raise
    return control.create(**creation)


def _worktree(chosen: Namespace, prompt: str) -> AbstractContextManager[str | None]:
    """A context in which the conversation begins in its new worktree, if one was asked for. Yields its name."""
    if chosen.worktree is None:
        return nullcontext()
    from supervisor.cli.worktree import new_worktree  # few conversations have one

    return new_worktree(chosen, prompt)


def _with_model(creation: Json, chosen: Namespace) -> Json:
    """The settings with the options of `run` alone. They win over `-c`, as the other options do."""
    effort = {} if chosen.effort is None else {"model_reasoning_effort": chosen.effort}
    roots = {} if chosen.writable_roots is None else api_settings([("writable_roots", chosen.writable_roots)])
    return {**creation, **roots, "provider": chosen.provider, "config": {**creation["config"], **effort}}


def _delete_if_empty(control: Control, conversation: str) -> None:
    """Delete the conversation if it is empty because its first message was refused."""
    found = control.get(conversation)
    if found.turn is None and not (found.preview or found.queued):
        control.delete(conversation)


def send(chosen: Namespace) -> int:
    words = _message(prompt_of(chosen.prompt), chosen.image)
    if chosen.key == "":
        raise Problem("the idempotency key is empty", "write --key KEY, or leave it out", "usage")
    with Control("send", environment=True) as control:
        conversation = ids.resolve_id(control, chosen.conversation)
        if chosen.image:
            from supervisor.cli.pictures import check_sight

            check_sight(control, conversation, chosen)
        said = {**words, "if_busy": chosen.if_busy, "key": chosen.key, "settings": settings_of_options(chosen)}
        if chosen.wait:
            return _watch_turn(control, conversation, None, said, as_json=chosen.json, limit_s=chosen.timeout)
        accepted = control.call("conversation/send", conversation=conversation, **said)
        policy = "enqueue" if said["settings"] and chosen.if_busy == "steer" else chosen.if_busy
        outcome = _outcome_of(control, conversation, accepted, policy, chosen.conversation)
    if chosen.json:
        print(json_text({"conversation": conversation, **accepted}))
    else:
        print(outcome)
    return 0


def _message(prompt: str, images: list[str]) -> Json:
    if not images:
        return {"prompt": prompt}
    from supervisor.cli.pictures import message  # few messages have one

    return message(prompt, images)


def compact(chosen: Namespace) -> int:
    with Control("compact", environment=True) as control:
        conversation = ids.resolve_id(control, chosen.conversation)
        if not chosen.detach:
            limit_s, method = chosen.timeout, "conversation/compact"
            return _watch_turn(control, conversation, None, {}, as_json=chosen.json, limit_s=limit_s, method=method)
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
    """The settings of a new conversation."""
    return {
        "name": None if chosen.name is None else ids.check_name(chosen.name),
        "cwd": directory(chosen.cwd),
        "agent": chosen.agent,
        "model": chosen.model,
        "profile": chosen.profile,
        "approval_policy": chosen.approval,
        "sandbox": chosen.sandbox,
        "config": pairs(chosen.config),
    }


def _outcome_of(control: Control, conversation: str, accepted: Json, if_busy: str, name: str) -> str:
    """The outcome of an accepted message in words. While a turn is being stopped, the message waits for its end."""
    if accepted["duplicate"]:
        return "already sent with this key"
    queue = control.queue(conversation) if accepted["queued"] else None
    held = held_notice(name, queue.waiting) if queue and queue.paused and queue.waiting else ""
    if accepted["turn"]:
        return f"sent; {held}" if held else "sent"
    if if_busy == "enqueue":
        return f"queued; {held or plural(accepted['queued'], 'message waits', 'messages wait')}"
    if if_busy == "interrupt":
        return "replaces the running turn"
    stopping = control.get(conversation).state == "interrupting"
    return "queued until the turn that is being stopped has ended" if stopping else "joins the running turn"


def _watch_turn(
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
        key = said.get("key") or fresh_key()  # so that the request can be repeated if the daemon goes away
        params = {**said, "conversation": conversation, "wait": True, "key": key}
        result = watch.show_until_answered(method, params, limit_s)
        return exits.exit_code_of_turn(result["ending"], denied=watch.ending.was_denied)

    return run_with_way_back(conversation, work)
