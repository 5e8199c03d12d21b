"""`greenroom inspect, restart, rename, fork, archive, rm, export, import`: look after stored conversations."""

import os
import shlex
import shutil
import sys
import tempfile
from argparse import Namespace
from collections.abc import Callable, Iterator
from contextlib import contextmanager, nullcontext
from pathlib import Path

from actors.vocabulary.visible_text import visible
from greenroom.events import SettingChange
from supervisor.cli.agent_status import inherited_by_agent, variables
from supervisor.cli.kit import exits, ids
from supervisor.cli.kit.arguments import directory, number
from supervisor.cli.kit.client import Control, Json
from supervisor.cli.kit.formatting import NOTHING, cut_to_width, one_line, plural
from supervisor.cli.kit.json_output import escape_unseen, json_text
from supervisor.cli.kit.listing import fill_template
from supervisor.cli.kit.pager import open_pager
from supervisor.cli.kit.problems import Problem, exit_of, report
from supervisor.cli.setting import OPTIONS, settings_of_options

PREVIEW_CELLS = 60  # cells for the preview of a conversation
PIECE_CHARACTERS = 1 << 16


def inspect(chosen: Namespace) -> int:
    with Control("inspect") as control:
        found = control.call("conversation/get", conversation=ids.resolve_id(control, chosen.conversation))
        given = [vars(server) for server in control.servers(found["conversation"])]
    found = {"id": found.pop("conversation"), **found, "servers": given, **_agent_details(found["settings"])}
    if chosen.format is not None:
        print(fill_template(found, found, chosen.format))
        return 0
    with open_pager() as text:
        print(json_text(found, 2), file=text or sys.stdout)
    return 0


def _agent_details(settings: Json) -> Json:
    """The settings and the like that a third-party agent has by itself, and the variables that it gets."""
    if not settings.get("agent"):
        return {}
    from msgspec.structs import asdict

    return {"brings": [asdict(thing) for thing in inherited_by_agent(settings)], "variables": variables(settings)}


def restart(chosen: Namespace) -> int:
    with Control("restart") as control:
        ids.about(control, chosen.conversation, control.restart)
    print("restarted")
    return 0


def rename(chosen: Namespace) -> int:
    name = ids.check_name(chosen.name) if chosen.name else None
    with Control("rename") as control:
        ids.about(control, chosen.conversation, control.rename, name)
    print(f"renamed to {name}" if name else "name removed")
    return 0


def fork(chosen: Namespace) -> int:
    at = number(chosen.at, "seq") if chosen.at is not None else None
    name = None if chosen.name is None else ids.check_name(chosen.name)
    with Control("fork") as control:
        settings = settings_of_options(chosen)
        made = ids.about(control, chosen.conversation, control.fork, at=at, name=name, settings=settings)
    print(json_text({"conversation": made}) if chosen.json else made)
    return 0


def archive(chosen: Namespace) -> int:
    with Control("archive") as control:

        def archive(reference: str) -> None:
            ids.about(control, reference, control.archive, archived=not chosen.undo)

        return _do_each(_look_up(control, chosen.conversation), archive, "unarchived" if chosen.undo else "archived")


def remove(chosen: Namespace) -> int:
    with Control("rm") as control:
        if not (chosen.force or sys.stdin.isatty()):
            raise Problem("rm can't ask for confirmation without a terminal", "use --force", "usage")
        targets = _look_up(control, chosen.conversation)
        if not chosen.force:
            targets = _confirm(control, targets)
        return _do_each(targets, lambda reference: ids.about(control, reference, control.delete), "deleted")


def export(chosen: Namespace) -> int:
    with Control("export") as control:
        conversation = ids.resolve_id(control, chosen.conversation)

        def fill(file: str) -> int:
            return control.export(conversation, file)

        if chosen.file in {None, "-"}:
            with tempfile.NamedTemporaryFile("r", encoding="utf-8", newline="\n") as filled:
                fill(filled.name)
                while text := filled.read(PIECE_CHARACTERS):
                    sys.stdout.write(escape_unseen(text))
            return 0
        count = _put(chosen.file, fill)
    print(f"wrote {plural(count, 'line')} to {chosen.file}", file=sys.stderr)
    return 0


def import_(chosen: Namespace) -> int:
    cwd = directory(chosen.cwd)
    with _readable(chosen.file) as file, Control("import", environment=True) as control:
        made = control.import_history(file, new_id=chosen.new_id, cwd=cwd)
    for change in made.changed if not chosen.json else ():
        print(f"greenroom: {_difference(change, made.conversation, chosen.file)}", file=sys.stderr)
    print(json_text(vars(made)) if chosen.json else made.conversation)
    return 0


def _difference(change: SettingChange, conversation: str, file: str) -> str:
    """The notice about a value of the imported file that the conversation does not have, and how to take it."""
    name, asked, here = change["name"], visible(change["before"]) or NOTHING, visible(change["after"]) or NOTHING
    told = f"the file asked for {name} {asked}; it has {here}, yours"
    if not change["before"]:
        return told
    if asked != change["before"] or "…" in asked or name not in (*OPTIONS, "cwd"):
        return f"{told}; to take it, write it into your config"
    if name == "cwd":
        words = ["greenroom", "import", file, "--new-id", "-C", change["before"]]
    else:
        words = ["greenroom", "set", ids.short_id(conversation), f"{name}={change['before']}"]
    return f"{told}; to take it: {shlex.join(words)}"


def _look_up(control: Control, references: list[str]) -> dict[str, str]:
    """The ids, each with the name to print. All are looked up before the first action, because that changes @last."""
    found = {}
    for reference in references:
        whole = ids.daemon_reference(control, reference)
        found[whole] = ids.short_id(whole) if whole != reference else reference
    return found


def _do_each(targets: dict[str, str], act: Callable[[str], object], done: str) -> int:
    failures: list[Problem] = []
    for reference, called in targets.items():
        try:
            act(reference)
            print(f"{visible(called)}: {done}")
        except Problem as problem:
            if problem.exit == exits.DOWN:
                raise
            failures.append(problem)
            report(problem, as_json=False)
    return exit_of(failures, len(targets))


def _confirm(control: Control, targets: dict[str, str]) -> dict[str, str]:
    """Show the conversations and ask. Return whole ids, so that exactly the conversations shown are deleted."""
    found = {}
    for reference, called in targets.items():
        (conversation,) = control.conversations_by_id([ids.resolve_id(control, reference)])
        whole = conversation.conversation
        found[whole] = called
        name = f" ({visible(conversation.name)})" if conversation.name else ""
        print(
            f"{ids.short_id(whole)}{name}: {cut_to_width(one_line(conversation.preview), PREVIEW_CELLS)}",
            file=sys.stderr,
        )
    what = next(iter(targets.values())) if len(targets) == 1 else f"these {len(targets)} conversations"
    print(f"Delete {visible(what)} for good? [y/N] ", end="", file=sys.stderr, flush=True)
    try:
        answer = sys.stdin.readline()
    except KeyboardInterrupt:
        print(file=sys.stderr)
        raise
    if answer.strip().lower() not in {"y", "yes"}:
        raise Problem("nothing was deleted")
    return found


def _put(path: str, fill: Callable[[str], int]) -> int:
    """Make the file, whole or not at all, and readable by its owner only; return the number of lines."""
    try:
        handle, draft = tempfile.mkstemp(dir=Path(path).absolute().parent, prefix=".greenroom-")
        os.close(handle)
        try:
            count = fill(draft)
            Path(draft).replace(path)
        except BaseException:
            Path(draft).unlink()
            raise
    except OSError as error:
        raise Problem(f"{path} can't be written: {error.strerror}") from error
    return count


@contextmanager
def _readable(path: str) -> Iterator[str]:
    """The whole path of the file, or of a copy of what comes from a pipe, for as long as the block lasts."""
    if path != "-" and Path(path).is_file():
        with _reading(path), Path(path).open("rb"):
            whole = str(Path(path).absolute())
        yield whole
        return
    with tempfile.NamedTemporaryFile("w", encoding="utf-8", newline="\n") as copy:
        with (
            _reading(path),
            nullcontext(sys.stdin) if path == "-" else Path(path).open(encoding="utf-8", newline="\n") as source,
        ):
            shutil.copyfileobj(source, copy)
            copy.flush()
        yield copy.name


@contextmanager
def _reading(path: str) -> Iterator[None]:
    try:
        yield
    except (OSError, UnicodeDecodeError) as error:
        raise Problem(f"{path} can't be read: {getattr(error, 'strerror', None) or 'not UTF-8'}") from error
