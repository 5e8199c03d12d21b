"""Every figure in one table, and docs/performance.md from it with its plots.

    python -m bench                  everything
    python -m bench --part turning   one part of it, to the terminal only
    python -m bench --part growth    what must not grow: with a million conversations, with 16 MiB of history
    python -m bench --peer 'CMD'     the MCP workload against another server of the codex shape as well
    python -m bench --page --peer 'CMD' --peer-name 'What 1.0'      everything, and the page with both

The part `growth` takes 2 GiB of disk for a minute, in BENCH_DIR or with the system's temporary files.
The parts of single layers (actors, journal, transport, …) are programs of their own, whose output is kept whole.
"""

import argparse
import os
import platform
import subprocess
import sys
import tempfile
from collections.abc import Callable, Iterator, Sequence
from contextlib import suppress
from dataclasses import replace
from functools import partial
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
sys.path.insert(0, str(ROOT))

from bench import bridge  # noqa: E402  # behind the line that finds them
from bench.growth import conversations, live, reading, search, turns  # noqa: E402
from bench.growth.curves import Growth  # noqa: E402
from bench.whole import agents, anatomy, bridges, floors, interrupting, opening, parking, streaming, turning  # noqa: E402  # behind the line that finds them
from bench.whole.peer import DELTAS, TURNS, Unanswered, Workload  # noqa: E402
from bench.whole.rows import Figure, markdown, p50, terminal  # noqa: E402
from bench.whole.stage import DaemonAndModel, scripted_model, stage  # noqa: E402
from tests.faults.daemon_harness import DEMO  # noqa: E402
from tests.support.bridge import FakeDaemon  # noqa: E402
from tests.support.command_line import NoProgram, words_of  # noqa: E402

PAGE = ROOT / "docs" / "performance.md"
PLOTS = PAGE.with_suffix("")  # a folder beside the page
LAYER_S = 600.0  # for one program of a layer; they take a minute at most on a quiet machine
MANY = "limits.requests_in_flight = 2000"
HEAD = """# Performance

This page is written by `make bench`. Each figure stands next to a floor from the same run: what the least that could
do the same costs here. Another server of the codex MCP shape is measured with `python -m bench --peer 'CMD'`.
"""
GROWTH_HEAD = """## Growth

The same work with ever more of something, which is the title of each first column. Each figure stands next to its
ratio to that with the least of it; a target in `times` is meant for that ratio. A p99 is that of a hundred, as a
quarter of all hundreds stay below it: bad moments of the machine do not make it."""
WHY = """## Where the time goes

As profiles show it (cProfile of the loop, `perf` with its software clock for the whole process, timestamps at
each step, `python -m bench --part anatomy` for the stages of a turn). Machines of one kind, and hours of one
machine, differ by more than a factor of two, and the floors with them: the same turn has been seen to take 1.7 ms
and, where the bare HTTP read took 0.5 ms instead of 0.2, 4 ms. At such an hour the narrow targets are missed by up to
a fifth or, for interrupts between busy streams, a half; the ratios change much less.

- **A turn** is two synced commits one after the other, the model, a look at the directory in a worker thread,
  and some 3,600 calls of functions on the loop's thread: two fifths of them are the agent's and its HTTP, two
  fifths the steps of the conversation and its connection, the rest asyncio and mailboxes. No single one of them
  takes more than a fiftieth. A commit comes after a pause, and a disk that was left alone for some milliseconds
  takes twice as long to sync as one that is kept busy (0.3 and 0.12 ms here): that alone is a fifth of a turn.
- **A new conversation with its first turn** makes three commits, one after the other (it is opened, the prompt
  is accepted, the turn has ended), and one beside the model's answer.
- **Many streams.** A word of a slow stream comes alone: one read, a step of its session, a step of its reader's
  connection, and its part of a write for all the words of that moment. Words that come faster share the whole way,
  which is why one fast stream costs a fiftieth.
- **Conversations that sleep** are rows and nothing else. A start looks at those that were not at rest; a name, the
  beginning of an id or a page of a list is a look into an index, by a thread that waits for the disk alone.
- **A turn behind a long history** is a short one, and the sending: what the model reads is kept encoded, and goes
  from there to the socket. Of 8 MiB a bare process needs nearly a millisecond for that, more than a third of a short
  turn, so the target of 1.3 times is out of reach where the model is on the same machine.
- **Interrupts.** Half of one is the process: found, signalled, waited for, looked for once more. The other half
  is the end of the turn: decided, synced, told. A hundred at once take the same steps a hundred times.
- **The bridge** is an interpreter that starts, and three milliseconds of ours: what else it needs (json, signal) is
  loaded while its daemon reads the hello.

A thread for each actor was built first, and measured against this: see decisions.md. Pinning the process to one
core, uvloop instead of asyncio's own loop and a rarer garbage collection changed nothing beyond the noise.
"""
VERBS = (("version",), ("ls",), ("status",))

Part = Callable[[Path], list[Figure]]


def on_stage(measure: Callable[[DaemonAndModel], list[Figure]], directory: Path) -> list[Figure]:
    with stage(directory / "home", MANY) as staged:
        return measure(staged)


def opening_part(directory: Path) -> list[Figure]:
    def measure(staged: DaemonAndModel) -> list[Figure]:
        return [*opening.empty(staged), *opening.opening(staged, directory), *opening.weight(staged)]

    return on_stage(measure, directory)


def anatomy_part(_: Path) -> list[Figure]:
    with scripted_model() as (base_url, _pid):
        return anatomy.anatomy(base_url)


def streaming_part(staged: DaemonAndModel) -> list[Figure]:
    return [*streaming.one_fast(staged), *streaming.sixty_four(staged), *streaming.fan_out(staged)]


def interrupting_part(staged: DaemonAndModel) -> list[Figure]:
    return [*interrupting.latency(staged), *interrupting.at_once(staged)]


def restarting_part(directory: Path) -> list[Figure]:
    return opening.restart(directory / "home", DEMO)


def doors_part(directory: Path) -> list[Figure]:
    """The bridge and the everyday verbs, as typed at a shell."""
    rows = []
    bare = floors.interpreter_ms("import socket, json")
    with stage(directory / "home") as staged:
        environ = {**staged.harness.environ}
        for verb in VERBS:
            command = [str(Path(sys.executable).with_name("greenroom")), *verb]
            run = partial(subprocess.run, command, env=environ, check=True, capture_output=True)
            with suppress(subprocess.CalledProcessError, OSError):  # a verb that is not there has no figure
                times = [floors.timed_ms(run) for _ in range(10)]
                rows.append(
                    Figure(
                        f"`greenroom {' '.join(verb)}`",
                        p50(times),
                        "ms",
                        bare,
                        "interpreter, socket, json",
                        "≤ 3 times",
                    )
                )
        rows.append(bridge_start())
        rows += bridges.turns(staged)
        rows += bridges.first_turns(directory, staged.base_url)
        rows += peer_rows(
            "greenroom mcp",
            Workload(
                f"{Path(sys.executable).with_name('greenroom')} mcp",
                staged.base_url,
                directory,
                environ,
                configured=True,
                daemon=staged.harness.cpu_s,
                bare=floors.bare(staged.base_url, TURNS, DELTAS),
            ),
        )
    return rows


def bridge_start() -> Figure:
    """The bridge's own share of a start: until it greets its daemon."""
    with tempfile.TemporaryDirectory(prefix="greenroom-bench-") as home, FakeDaemon(Path(home)) as daemon:
        took = bridge.median_ms(lambda: bridge.first_hello(Path(home), daemon, "mcp"), bridge.ROUNDS)
    bare = bridge.median_ms(bridge.bare_start, bridge.ROUNDS)
    return Figure("bridge: start to its hello", took, "ms", bare, "bare interpreter", "≤ 30")


def peer_rows(name: str, workload: Workload) -> list[Figure]:
    try:
        return workload.rows(name)
    except Unanswered as error:
        print(f"no figures of {name}: {error}", file=sys.stderr)
        return []


PARTS: dict[str, tuple[str, Part]] = {
    "opening": ("Conversations", opening_part),
    "turning": ("Turns", partial(on_stage, turning.overhead)),
    "anatomy": ("What the time of a turn goes into", anatomy_part),
    "streaming": ("Streams", partial(on_stage, streaming_part)),
    "interrupting": ("Interrupts", partial(on_stage, interrupting_part)),
    "agents": ("Third-party agents", agents.part),
    "parking": ("Conversations that sleep in the life that opened them", parking.parking),
    "restarting": ("Restart", restarting_part),
    "doors": ("Bridge and command line", doors_part),
}


def with_model(measure: Callable[[Path, str, int], Growth], directory: Path) -> Growth:
    with scripted_model() as (base_url, pid):
        return measure(directory, base_url, pid)


GROWTH = "growth"  # the part that these are together
GROWTHS: tuple[Callable[[Path], Growth], ...] = (
    partial(with_model, conversations.growth),
    partial(with_model, live.growth),
    turns.growth,
    reading.growth,
    search.growth,
)


def measure_growths() -> list[Growth]:
    found = []
    for measure in GROWTHS:
        with tempfile.TemporaryDirectory(prefix="greenroom-bench-", dir=os.environ.get("BENCH_DIR")) as directory:
            found.append(measure(Path(directory)))
        print(f"\n{found[-1].terminal()}", flush=True)
    return found


def measure_part(name: str) -> list[Figure]:
    with tempfile.TemporaryDirectory(prefix="greenroom-bench-") as directory:
        rows = PARTS[name][1](Path(directory))
    print(f"\n{PARTS[name][0]}\n{terminal(rows)}", flush=True)
    return rows


def peer(command: str, name: str) -> list[Figure]:
    with tempfile.TemporaryDirectory(prefix="greenroom-bench-") as directory, scripted_model() as (base_url, _):
        home = {"HOME": directory, "CODEX_HOME": directory}
        bare = floors.bare(base_url, TURNS, DELTAS)
        found = peer_rows(name, Workload(command, base_url, Path(directory), home, bare=bare))
    rows = [replace(row, target="") for row in found]  # the targets are our own
    print(f"\nPeer\n{terminal(rows)}", flush=True)
    return rows


def layers() -> Iterator[tuple[str, str]]:
    """The programs beside this one, and the output of each."""
    for path in sorted((ROOT / "bench").glob("[a-z]*.py")):
        print(f"\n==> {path.name}", flush=True)
        done = subprocess.run(
            [sys.executable, "-m", f"bench.{path.stem}"],
            cwd=ROOT,
            capture_output=True,
            text=True,
            timeout=LAYER_S,
            check=False,
        )
        print(done.stdout, flush=True)
        if done.stderr:  # a program that misses its targets says so in its table
            raise SystemExit(f"{path.name} failed:\n{done.stderr}")
        yield path.stem, done.stdout


def main() -> None:
    options = argparse.ArgumentParser(prog="python -m bench", description="All figures, next to their floors.")
    options.add_argument(
        "--part", choices=sorted([*PARTS, GROWTH]), action="append", help="only this, to the terminal only"
    )
    options.add_argument("--peer", metavar="CMD", help="measure this MCP server too, in a home of its own")
    options.add_argument("--peer-name", metavar="NAME", help="what to call it; otherwise by its program")
    options.add_argument("--page", action="store_true", help="everything, and the page: what no option means")
    chosen = options.parse_args()
    os.environ.pop("PYTHONDONTWRITEBYTECODE", None)  # an installed program has its modules compiled beside it
    try:
        name = chosen.peer_name or (Path(words_of(chosen.peer)[0]).name if chosen.peer else "")
    except NoProgram as error:
        options.error(str(error))
    if (chosen.part or chosen.peer) and not chosen.page:
        for part in chosen.part or ():
            if part == GROWTH:
                measure_growths()
            else:
                measure_part(part)
        if chosen.peer:
            measure_part("doors")
            peer(chosen.peer, name)
        return
    write_page([(name, chosen.peer)] if chosen.peer else [])


def write_page(peers: Sequence[tuple[str, str]]) -> None:
    sections = [f"## {PARTS[name][0]}\n\n{markdown(measure_part(name))}\n" for name in PARTS]
    growths = measure_growths()
    sections.append(growth_section(growths))
    sections += [f"## The same client with {name}\n\n{markdown(peer(command, name))}\n" for name, command in peers]
    sections += [f"## Layer: {name}\n\n```\n{text.strip()}\n```\n" for name, text in layers()]
    machine = f"{os.cpu_count()} cores, {platform.system()} {platform.machine()}, Python {platform.python_version()}"
    PAGE.write_text("\n".join([HEAD, f"Last run: {machine}.\n", *sections, WHY]), encoding="utf-8")
    write_plots(PLOTS, growths)
    print(f"written: {PAGE.relative_to(ROOT)}")


def growth_section(growths: Sequence[Growth]) -> str:
    parts = [GROWTH_HEAD, *(growth.markdown(PLOTS.name) for growth in growths)]
    return "\n\n".join(parts) + "\n"


def write_plots(folder: Path, growths: Sequence[Growth]) -> None:
    """Write a plot of each, and remove all older ones."""
    folder.mkdir(exist_ok=True)
    for old in folder.glob("*.svg"):
        old.unlink()
    for growth in growths:
        (folder / f"{growth.name}.svg").write_text(growth.svg(), encoding="utf-8")


if __name__ == "__main__":
    main()
