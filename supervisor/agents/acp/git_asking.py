"""The `git` that a confined agent finds, for subcommands that change history: it asks the daemon to run them.

Standard library alone. Run inside the sandbox as `python git_asking.py DESK ARGUMENTS…`; the daemon trusts none of
its requests.
"""

import base64
import json
import os
import sys
import time
from pathlib import Path

# git_desk.py imports these names from here; this file runs alone, and imports nothing of ours.
ASKS, ANSWERS, BELL, GIT = "asks", "answers", "bell", "git"
INPUT_BYTES = 1 << 20
LOOK_S, LOOK_MOST_S = 0.003, 0.05


def main(desk: Path, arguments: list[str]) -> int:
    while arguments[:1] == ["-C"] and arguments[1:]:
        os.chdir(arguments[1])
        arguments = arguments[2:]
    name = os.urandom(16).hex()
    request = {"args": arguments, "cwd": str(Path.cwd()), "env": dict(os.environ), "input": _input(arguments)}
    (desk / ASKS / f".{name}").write_text(json.dumps(request, ensure_ascii=True))
    (desk / ASKS / f".{name}").rename(desk / ASKS / name)
    bell = os.open(desk / BELL, os.O_WRONLY | os.O_NONBLOCK)
    os.write(bell, f"{name}\n".encode())
    answer = _answer(desk / ANSWERS / name)
    if answer is None:
        os.execv(desk / GIT, ["git", *arguments])  # noqa: S606 - git itself reports the error
    sys.stdout.buffer.write(base64.b64decode(answer["out"]))
    sys.stdout.flush()
    sys.stderr.buffer.write(base64.b64decode(answer["err"]))
    return int(answer["code"])


def _reads(arguments: list[str]) -> bool:
    """Tell whether git would read its input. Reading without need would wait for an open pipe."""
    if any(word in {"-", "-F-"} or word.endswith("=-") or "stdin" in word for word in arguments):
        return True
    return "apply" in arguments and not any(Path(word).is_file() for word in arguments)


def _input(arguments: list[str]) -> str:
    taken = sys.stdin.buffer.read(INPUT_BYTES) if _reads(arguments) else b""
    return base64.b64encode(taken).decode()


def _answer(file: Path) -> "dict[str, str] | None":
    pause_s = LOOK_S
    while not file.exists():
        time.sleep(pause_s)
        pause_s = min(2 * pause_s, LOOK_MOST_S)
    answer: dict[str, str] = json.loads(file.read_text())
    return answer or None


if __name__ == "__main__":
    sys.exit(main(Path(sys.argv[1]), sys.argv[2:]))
