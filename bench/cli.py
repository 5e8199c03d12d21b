"""Times of the everyday verbs, beside the bare start of the same interpreter. At most three times is the rule.

Medians of runs that alternate, so that a busy machine is busy for both.
"""

import os
import statistics
import subprocess
import sys
import tempfile
import time
from pathlib import Path

RUNS = 15
LIMIT = 3.0
CONVERSATIONS = 20
BARE: tuple[str, ...] = (sys.executable, "-c", "import socket, json")
PROGRAM: tuple[str, ...] = (sys.executable, "-m", "supervisor.cli.app")
VERBS: dict[str, tuple[str, ...]] = {
    "ls": ("ls",),
    "status": ("status",),
    "interrupt": ("interrupt", "bench-0"),
    "approve": ("approve", "nothing"),
    "__complete": ("__complete", "attach", ""),
}


def main() -> int:
    with tempfile.TemporaryDirectory(prefix="gr-bench-", dir="/tmp") as home:
        env = {**os.environ, "GREENROOM_HOME": home, "PYTHONPATH": str(Path(__file__).resolve().parent.parent)}
        Path(home, "config.toml").write_text('model_provider = "demo"\n', encoding="utf-8")
        try:
            return measure(env)
        finally:
            subprocess.run([*PROGRAM, "down", "--now"], env=env, capture_output=True, check=False)


def measure(env: dict[str, str]) -> int:
    subprocess.run([*PROGRAM, "up"], env=env, capture_output=True, check=True)
    for number in range(CONVERSATIONS):
        said = ("run", "-d", "--name", f"bench-{number}", "say x")
        subprocess.run([*PROGRAM, *said], env=env, capture_output=True, check=True)
    times: dict[str, list[float]] = {"bare": [], **{verb: [] for verb in VERBS}}
    for _ in range(RUNS):
        times["bare"].append(time_s(BARE, env))
        for verb, words in VERBS.items():
            times[verb].append(time_s((*PROGRAM, *words), env))
    bare = statistics.median(times["bare"])
    print(f"{'':12}{'median':>10}{'ratio':>8}   (limit {LIMIT:g})")
    for verb, each in times.items():
        print(f"{verb:12}{statistics.median(each) * 1000:>7.1f} ms{statistics.median(each) / bare:>8.2f}")
    return int(any(statistics.median(times[verb]) / bare > LIMIT for verb in VERBS))


def time_s(command: tuple[str, ...], env: dict[str, str]) -> float:
    began = time.perf_counter()
    subprocess.run(command, env=env, capture_output=True, check=False)
    return time.perf_counter() - began


if __name__ == "__main__":
    sys.exit(main())
