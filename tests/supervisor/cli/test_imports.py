"""An import, as the command line tells of it: what its file asked for, what it has, and how to take the other."""

import json
import os
import shlex
import threading

from tests.supervisor.cli.place import Place


def test_settings_of_an_imported_file_are_told_with_the_command_that_applies_them(place: Place) -> None:
    original = place.new("say x", "--sandbox", "read-only", "--approval", "untrusted")
    place.at_rest(original)
    folder = place.work / "its own"
    folder.mkdir()
    head, first, *rest = place.said("export", original).splitlines()
    event = json.loads(first)
    asks = {
        "sandbox": {"mode": "danger-full-access"},
        "approval_policy": "never",
        "cwd": str(folder),
        "agent": "claude",
    }
    strange = {
        "base_instructions": "\x1b[2Jyes\n? 1 approve",
        "overrides": {"notify": ["sh"]},
        "summary": "none",
        "agent": "claude",
    }
    event["body"]["settings"].update({**asks, **strange})
    file = place.work / "stranger's.jsonl"
    file.write_text("\n".join((head, json.dumps(event), *rest)) + "\n", encoding="utf-8")

    done = place.run("import", str(file), "--new-id")
    made = done.stdout.strip()
    lines = done.stderr.splitlines()
    assert all(line.startswith("greenroom: the file asked for ") and line.isprintable() for line in lines), lines
    told = {line.split()[5]: line for line in lines}
    mine = place.json("inspect", made)["settings"]
    assert mine["cwd"] == str(place.work)
    assert f"sandbox danger-full-access; it has {mine['sandbox']['mode']}, yours; to take it: " in told["sandbox"]
    for name, value in (("sandbox", "danger-full-access"), ("approval", "never"), ("agent", "claude")):
        assert told[name].endswith(f"to take it: greenroom set {made[:8]} {name}={value}")
    for name in ("overrides", "summary", "base_instructions"):
        assert told[name].endswith("to take it, write it into your config")

    assert "sandbox: " in place.said(*command_in(told["sandbox"]))
    assert place.json("inspect", made)["settings"]["sandbox"]["mode"] == "danger-full-access"
    there = place.said(*command_in(told["cwd"]))
    assert place.json("inspect", there)["settings"]["cwd"] == str(folder)
    as_json = place.run("import", str(file), "--new-id", "--json")
    assert as_json.stderr == ""
    assert {"name": "approval", "before": "never", "after": mine["approval_policy"]} in json.loads(as_json.stdout)[
        "changed"
    ]


def command_in(line: str) -> list[str]:
    return shlex.split(line.partition("to take it: greenroom ")[2])


def test_an_import_that_asks_for_what_it_has_tells_nothing(place: Place) -> None:
    original = place.new("say x")
    place.at_rest(original)
    place.run("export", original, str(place.work / "mine.jsonl"))
    assert place.run("import", str(place.work / "mine.jsonl"), "--new-id").stderr == ""


def test_a_directory_that_is_not_there_is_refused_before_anything_is_read(place: Place) -> None:
    done = place.run("import", "nothing.jsonl", "-C", str(place.work / "nowhere"), code=2)
    assert "-C takes a directory that exists" in done.stderr


def test_a_history_from_a_pipe_is_imported(place: Place) -> None:
    original = place.new("say x")
    place.at_rest(original)
    text = place.said("export", original)
    pipe = place.work / "pipe"
    os.mkfifo(pipe)
    writing = threading.Thread(target=pipe.write_text, args=(text,))
    writing.start()
    copy = place.said("import", str(pipe), "--new-id")
    writing.join()
    assert place.said("export", copy).count("\n") >= text.count("\n")
