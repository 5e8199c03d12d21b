"""A third-party agent that stays warm between its turns, and the git of the person who works beside it."""

import subprocess
from pathlib import Path

from actors.vocabulary import events as ev
from tests.supervisor.agents.acp.test_confined_turns import engine
from tests.supervisor.work.place import CLOSED, git, on_linux
from tests.support.engine_harness import Talk

pytestmark = on_linux


def notices(talk: Talk) -> list[str]:
    return [one.message for one in talk.all(ev.BackgroundEvent)]


def script(home: Path, name: str, text: str) -> Path:
    """A script for the agent, whose own words know no quotes."""
    file = home / name
    file.write_text(text)
    return file


def test_a_repository_that_a_person_clones_meanwhile_is_closed_in_the_next_turn(tmp_path: Path) -> None:
    """Its hooks would run at the person's commit."""
    with engine(tmp_path) as harness:
        git(harness.workspace, "init")
        talk = harness.talk(agent="scripted", sandbox=CLOSED)
        talk.ask("say hello")
        (harness.workspace / "app").mkdir()
        git(harness.workspace / "app", "init")
        talk.ask("run touch app/.git/hooks/pre-commit; then run touch app/ok")
        assert (harness.workspace / "app/ok").exists()
        assert not (harness.workspace / "app/.git/hooks/pre-commit").exists()
        assert notices(talk)[0] == "scripted is started anew: what other programs obey in its directories changed"
        before = len(notices(talk))
        talk.ask("say nothing has changed")
        assert len(notices(talk)) == before


def test_a_repository_that_the_agent_makes_is_none_after_its_turn(tmp_path: Path) -> None:
    """A person's `git add` would make a gitlink of it."""
    ran = tmp_path / "ran"
    with engine(tmp_path) as harness:
        git(harness.workspace, "init")
        git(harness.workspace, "commit", "--allow-empty", "-m", "first")
        talk = harness.talk(agent="scripted", sandbox=CLOSED)
        file = script(
            tmp_path,
            "make.sh",
            f"mkdir sub; cd sub; git init -q; git -c user.name=e -c user.email=e commit -q --allow-empty -m e\n"
            f"git config core.fsmonitor 'touch {ran}'\n",
        )
        talk.ask(f"run sh {file}")
        for words in (("add", "-A"), ("commit", "-m", "mine"), ("status",)):
            git(harness.workspace, *words)
        assert not ran.exists()
        assert (harness.workspace / "sub/.git.set-aside-by-greenroom").is_dir()
        assert "core.fsmonitor" in notices(talk)[-1]
        assert not list(tmp_path.rglob("watches/*"))


def test_a_warm_agent_makes_no_repository_of_a_directory_that_is_none(tmp_path: Path) -> None:
    ran = tmp_path / "ran"
    with engine(tmp_path) as harness:
        talk = harness.talk(agent="scripted", sandbox=CLOSED)
        file = script(
            tmp_path,
            "make.sh",
            "rmdir HEAD; echo 'ref: refs/heads/main' > HEAD; mkdir objects refs\n"
            "printf '[core]\\nrepositoryformatversion = 0\\nbare = false\\nworktree = .\\n' > config\n"
            f"printf 'fsmonitor = touch {ran}\\n' >> config; touch done\n",
        )
        talk.ask(f"run sh {file}")
        assert (harness.workspace / "done").exists()
        status = subprocess.run(["git", "status"], cwd=harness.workspace, capture_output=True, text=True, check=False)
        assert (status.returncode, ran.exists()) == (128, False)
