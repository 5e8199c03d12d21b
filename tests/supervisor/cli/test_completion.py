"""Completion: what may come next, and the script of each shell, in that shell.

What a busy daemon does not say at once is not offered: ids and names are asked for again until they are.
"""

import os
import pty
import re
import select
import shutil
import subprocess
import time
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from tests.supervisor.cli.place import PATIENCE_S, PROGRAM, Place, until


def offered(place: Place, *words: str) -> list[str]:
    return [line.split("\t")[0] for line in place.run("__complete", *words).stdout.splitlines()]


def test_completion_offers_the_words_that_may_come_next(place: Place) -> None:
    conversation = place.asking("--name", "completed")
    (approval,) = place.json("approvals", conversation, "--json")
    assert offered(place, "att") == ["attach"]
    assert "--from" in offered(place, "attach", "--")
    until(lambda: {"completed", conversation[:8], "@last"} <= set(offered(place, "attach", "")))
    assert offered(place, "send", "completed", "hi", "--if-busy", "st") == ["steer"]
    until(lambda: offered(place, "attach", "--ro", "comp") == ["completed"])
    until(lambda: approval["id"][:8] in offered(place, "approve", ""))
    assert offered(place, "config", "p") == ["path"]
    assert "exit-codes" in offered(place, "help", "e")
    assert offered(place, "ls", "--json", "id,st") == ["id,state"]
    assert offered(place, "usage", "--json", "un") == ["unpriced", "uncounted"]
    assert offered(place, "queue", "completed", "--json", "pol") == ["policy"]
    assert offered(place, "import", "") == [":files"]
    assert offered(place, "nonsense", "") == []


def test_agents_are_offered_by_name_those_of_the_config_among_them(quiet: Place) -> None:
    config = quiet.home / "config.toml"
    config.write_text('[agents.mine]\ncommand = "/bin/true"\n[agents.claude]\nnetwork = false\n', encoding="utf-8")
    everyone = offered(quiet, "run", "--agent", "")
    assert everyone[:3] == ["greenroom", "mine", "claude"]
    assert "codex" in everyone
    assert len(everyone) == len(set(everyone))
    assert offered(quiet, "set", "@last", "agent=m") == ["agent=mine"]
    config.write_text("agents = [", encoding="utf-8")
    assert offered(quiet, "agents", "cl") == ["claude", "cline"]


def test_nothing_is_offered_and_nothing_said_when_the_daemon_is_down(quiet: Place) -> None:
    began = time.monotonic()
    done = quiet.run("__complete", "attach", "x")
    assert (done.stdout, done.stderr) == ("", "")
    assert time.monotonic() - began < 0.2 * 15  # 200 ms on an idle machine; a daemon's start takes longer


@pytest.mark.parametrize("shell", ["bash", "zsh", "fish"])
def test_the_script_is_one_that_its_shell_understands(place: Place, shell: str) -> None:
    program = shutil.which(shell)
    if program is None:
        pytest.skip(f"no {shell} here")
    script = place.run("completion", shell).stdout
    subprocess.run([program, "-n"], input=script, text=True, check=True, timeout=20)


# --- in the shells themselves ---------------------------------------------------------------------------------------

STAND_IN = """#!/bin/sh
if [ "$1" = __complete ]; then exec {program} "$@"; fi
printf '%s\\n' "$*" > {told}.new && mv {told}.new {told}
"""


@pytest.fixture
def typing(place: Place) -> Iterator[Place]:
    """A place with a `greenroom` on the path that completes words and otherwise only notes how it was called."""
    folder = place.base / "bin"
    folder.mkdir(exist_ok=True)
    program = folder / "greenroom"
    text = STAND_IN.format(program=" ".join(PROGRAM), told=place.base / "told")
    program.write_text(text, encoding="utf-8")
    program.chmod(0o755)
    path = place.env["PATH"]
    place.env["PATH"] = f"{folder}:{path}"
    yield place
    place.env["PATH"] = path


def script(place: Place, shell: str) -> Path:
    file = place.base / f"completion.{shell}"
    file.write_text(place.run("completion", shell).stdout, encoding="utf-8")
    return file


def in_bash(place: Place, *words: str) -> list[str]:
    line = " ".join(f"'{word}'" for word in ("greenroom", *words))
    ask = f"source {script(place, 'bash')}; COMP_WORDS=({line}); COMP_CWORD={len(words)}; _greenroom"
    return _printed(place, ["bash", "-c", f'{ask}; printf "%s\\n" "${{COMPREPLY[@]}}"'])


def in_fish(place: Place, *words: str) -> list[str]:
    ask = f"source {script(place, 'fish')}; complete -C 'greenroom {' '.join(words)}'"
    return [line.split("\t")[0] for line in _printed(place, ["fish", "--no-config", "-c", ask])]


def in_zsh(place: Place, *words: str) -> list[str]:
    """Type in the shell itself: zsh offers no other way."""
    return typed(
        place,
        ["zsh", "-f", "-i"],
        f"autoload -Uz compinit && compinit -u -D && source {script(place, 'zsh')}",
        *words,
    )


def typed(place: Place, command: list[str], loading: str, *words: str) -> list[str]:
    """Type words, Tab and Enter in a shell; return the last word of the command that it ran."""
    told, prompt = place.base / "told", "type> "
    told.unlink(missing_ok=True)
    ours, theirs = pty.openpty()
    shell = subprocess.Popen(
        command,
        stdin=theirs, stdout=theirs, stderr=theirs, env={**place.env, "PS1": prompt}, cwd=place.work,
        start_new_session=True,
    )  # fmt: skip
    os.close(theirs)
    try:
        _until_written(ours, prompt)
        os.write(ours, f"{loading} && echo load''ed\r".encode())
        _until_written(ours, "loaded", prompt)
        os.write(ours, f"greenroom {' '.join(words)}\t\r".encode())
        until(told.exists)
        return [told.read_text(encoding="utf-8").split()[-1]]
    finally:
        shell.kill()
        shell.wait()
        os.close(ours)


def _until_written(terminal: int, *texts: str) -> None:
    """Wait until the texts have been written, one after the other."""
    seen, deadline = "", time.monotonic() + PATIENCE_S
    while re.search(".*".join(texts), seen, re.DOTALL) is None:
        assert select.select([terminal], [], [], max(0.0, deadline - time.monotonic()))[0], seen
        seen += os.read(terminal, 4096).decode(errors="replace")


def _printed(place: Place, command: list[str]) -> list[str]:
    done = subprocess.run(command, env=place.env, capture_output=True, text=True, check=True, timeout=20)
    assert done.stderr == ""
    return done.stdout.splitlines()


@pytest.mark.parametrize(("shell", "ask"), [("bash", in_bash), ("zsh", in_zsh), ("fish", in_fish)])
def test_a_shell_completes_verbs_ids_and_names(typing: Place, shell: str, ask: Callable[..., list[str]]) -> None:
    if shutil.which(shell) is None:
        pytest.skip(f"no {shell} here")
    conversation = typing.new("say x", "--name", f"tabbed-in-{shell}")
    typing.at_rest(conversation)
    assert ask(typing, "att") == ["attach"]
    until(lambda: ask(typing, "attach", f"tabbed-in-{shell[:2]}") == [f"tabbed-in-{shell}"])
    until(lambda: ask(typing, "send", conversation[:7]) == [conversation[:8]])
    assert ask(typing, "send", "@last", "hi", "--if-busy", "enq") == ["enqueue"]


def test_a_name_with_a_colon_is_completed_where_the_shell_cuts_words_at_it(typing: Place) -> None:
    typing.at_rest(typing.new("say x", "--name", "fix:the:door"))
    typing.at_rest(typing.new("say x", "--name", "fix:the:roof"))
    bash, loading = ["bash", "--norc", "--noprofile", "-i"], f"source {script(typing, 'bash')}"
    for begun in ("fix:the:d", "fix:the:door"):
        assert typed(typing, bash, loading, "attach", begun) == ["fix:the:door"]
    assert typed(typing, bash, loading, "attach", "fix") == ["fix:the:"]
    assert in_bash(typing, "attach", "fix:the:r") == ["roof"]


def test_a_name_is_never_carried_out_by_the_shell_that_offers_it(typing: Place) -> None:
    bad = "$(touch${IFS}" + str(typing.base / "obeyed") + ")"
    typing.at_rest(typing.new("say x", "--name", bad))
    typing.at_rest(typing.new("say x", "--name", "with a blank"))
    until(lambda: bad in offered(typing, "attach", ""))
    assert {"\\$\\(touch\\$\\{IFS\\}" + str(typing.base / "obeyed") + "\\)", "with\\ a\\ blank"} <= set(
        in_bash(typing, "attach", "")
    )
    bash, loading = ["bash", "--norc", "--noprofile", "-i"], f"source {script(typing, 'bash')}"
    assert typed(typing, bash, loading, "attach", "with") == ["blank"]
    assert typed(typing, bash, loading, "attach", r"\$") != [""]
    assert not (typing.base / "obeyed").exists()


@pytest.mark.parametrize(("shell", "ask"), [("bash", in_bash), ("fish", in_fish)])
def test_a_shell_offers_everything_after_a_blank(typing: Place, shell: str, ask: Callable[..., list[str]]) -> None:
    if shutil.which(shell) is None:
        pytest.skip(f"no {shell} here")
    assert {"attach", "ls", "run"} <= set(ask(typing, ""))
    assert {"@last", "@here"} <= set(ask(typing, "attach", ""))
