"""Turns of an agent in its sandbox, in a whole engine."""

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from actors.vocabulary import events as ev
from actors.vocabulary.settings import DangerFullAccess, ReadOnly
from supervisor.work.sandbox.order import Availability
from tests.supervisor.agents.acp.scripted import agent_table
from tests.supervisor.work.place import CLOSED, on_linux
from tests.support.engine_harness import EngineHarness

pytestmark = on_linux


@contextmanager
def engine(home: Path) -> Iterator[EngineHarness]:
    table = agent_table().replace('confine = "none"\n', "")
    with EngineHarness(home, f"[greenroom]\ninterrupt_grace_ms = 150\n{table}") as harness:
        yield harness


def test_a_turn_runs_in_the_sandbox_and_another_mode_starts_the_agent_anew_and_says_so(tmp_path: Path) -> None:
    with engine(tmp_path) as harness:
        talk = harness.talk(agent="scripted", sandbox=CLOSED)
        outside = tmp_path / "outside"
        talk.ask(f"run echo in > in.txt; then run echo out > {outside}")
        assert (harness.workspace / "in.txt").read_text() == "in\n"
        assert not outside.exists()
        talk.ask("say still warm")
        assert not talk.all(ev.BackgroundEvent)
        talk.change(talk.settings.model_copy(update={"sandbox": ReadOnly()}))
        talk.ask("run echo in > second.txt")
        assert not (harness.workspace / "second.txt").exists()
        talk.change(talk.settings.model_copy(update={"sandbox": DangerFullAccess()}))
        talk.ask(f"run echo out > {outside}")
        assert outside.exists()
        told = [one.message for one in talk.all(ev.BackgroundEvent)]
        assert told[::2] == ["scripted is started anew: its sandbox changed"] * 2
        assert all("it began a new one" in one for one in told[1::2])  # it keeps no sessions


def test_where_nothing_confines_the_turn_ends_with_what_to_do_and_full_access_runs(tmp_path: Path) -> None:
    with engine(tmp_path) as harness:
        harness.engine.sandbox.get().availability = Availability(
            ok=False, reason="bwrap is not installed", how_to_get="install bubblewrap"
        )
        talk = harness.talk(agent="scripted", sandbox=CLOSED)
        result = talk.result(talk.start("say hello"))
        said = "it could not be started: nothing confines it here: bwrap is not installed; install bubblewrap, or"
        assert said in str(result.message)
        talk.change(talk.settings.model_copy(update={"sandbox": DangerFullAccess()}))
        talk.ask("say hello")
        assert talk.wait(ev.AgentMessage).message == "hello"
