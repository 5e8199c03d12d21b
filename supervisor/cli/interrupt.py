"""`greenroom interrupt`: stop turns, keep conversations. This verb must start fast."""

from argparse import Namespace

from actors.vocabulary.visible_text import visible
from supervisor.cli.held_messages import held_notice
from supervisor.cli.kit import ids
from supervisor.cli.kit.client import Control, Json
from supervisor.cli.kit.json_output import json_text
from supervisor.cli.kit.problems import Problem, exit_of, report
from supervisor.cli.running_jobs import running_jobs

BUSY = ("starting", "running", "waiting", "interrupting")


def run(chosen: Namespace) -> int:
    if chosen.conversation and chosen.all:
        raise Problem("--all and names can't be combined", "leave one of them out", "usage")
    if not (chosen.conversation or chosen.all):
        raise Problem("no conversation is named", "name a conversation, or use --all", "usage")
    with Control("interrupt") as control:
        wanted = (
            _busy(control)
            if chosen.all
            else [(name, ids.daemon_reference(control, name)) for name in chosen.conversation]
        )
        options = {"kill": chosen.kill, "clear": chosen.clear, "reason": chosen.reason or ""}
        params = [{"conversation": reference, **options} for _, reference in wanted]
        results = control.call_each("conversation/interrupt", params, chosen.wait)
        explained = [
            _explain(control, name, reference, result, as_json=chosen.json)
            for (name, reference), result in zip(wanted, results, strict=True)
        ]
        jobs = [] if chosen.json else _jobs(control, [reference for _, reference in wanted])
    code = _print_results([name for name, _ in wanted], explained, chosen)
    for job in jobs:
        print(f"job {job} goes on in the background; `greenroom jobs end {job}` ends it")
    return code


def _jobs(control: Control, references: list[str]) -> list[str]:
    """The jobs of these conversations that an interrupt leaves running: those that outlive their turn."""
    kept = [job for job in running_jobs(control) if job.keeps]
    interrupted = {_whole_id(control, reference) for reference in references} if kept else set()
    return [visible(job.job) for job in kept if job.conversation in interrupted]


def _whole_id(control: Control, reference: str) -> str:
    """The whole id; empty if there is no such conversation: the result of the interrupt says so already."""
    try:
        return ids.resolve_id(control, reference)
    except Problem:
        return ""


def _explain(control: Control, name: str, reference: str, result: Json | Problem, *, as_json: bool) -> Json | Problem:
    """The result with the whole id for a program, or the problem with suggestions."""
    if isinstance(result, Problem):
        return ids.explain_refusal(control, name, result)
    return {"conversation": ids.resolve_id(control, reference), **result} if as_json else result


def _busy(control: Control) -> list[tuple[str, str]]:
    rows = [row for state in BUSY for row in control.conversations(state=state)]
    return [(ids.short_id(row.conversation), row.conversation) for row in rows]


def _print_results(names: list[str], results: list[Json | Problem], chosen: Namespace) -> int:
    as_json, failures = chosen.json, list[Problem]()
    for name, result in zip(names, results, strict=True):
        if isinstance(result, Problem):
            failures.append(_timeout_problem(name, chosen.wait) if result.code == "timed_out" else result)
            report(failures[-1], as_json=as_json)
        elif as_json:
            print(json_text(result))
        else:
            cleared = "; its queue is empty now" if chosen.clear else ""
            left = f"; {held_notice(name, result['waiting'])}" if result["queued"] else ""
            print(f"{visible(name)}: {_words(result)}{cleared or left}")
    if not names and not as_json:
        print("nothing is running")
    return exit_of(failures, len(names))


def _words(result: Json) -> str:
    if result["turn"] is None:
        return "nothing was running"
    return "the turn had already completed" if result["ending"] == "completed" else "interrupted"


def _timeout_problem(name: str, wait_s: float) -> Problem:
    return Problem(
        f"{name}: the turn did not end within {wait_s:g} s",
        "it will still end; run the same command again to kill its commands at once",
        "timed_out",
    )
