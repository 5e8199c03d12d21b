"""The plan that a client of another project carries out against `greenroom acp`, and the expected report of it."""

from collections.abc import Mapping
from pathlib import Path
from typing import Any

Json = dict[str, Any]
STUBBORN = "trap '' TERM INT; sleep 4711; sleep 4712"
PROMPTS: Mapping[str, str] = {
    "first": "say first",
    "accept": 'call shell ["touch","accepted"]; then; say went on',
    "refuse": 'call shell ["touch","refused"]; then; say went on',
    "stubborn": f'call shell ["sh","-c","{STUBBORN}"]; then; say never',
    "second": "say second",
    "stream": "slow 20; stream 10000 word",
    "back": "say back",
}


def plan_for(server: Path, work: Path, daemon: Path) -> Json:
    """Make the plan of a client: the program that is the agent, where to work, and where the daemon's pid stands."""
    places = {"server": str(server), "work": str(work), "daemon": str(daemon)}
    return {**places, "prompts": dict(PROMPTS)}


def approve_of(report: Json, work: Path) -> None:
    assert report["initialized"]["protocolVersion"] == 1
    assert report["listedBefore"] == 0
    assert report["first"] == {"stop": "end_turn", "text": "first"}
    _permissions(report, work)
    assert report["cancelled"]["stop"] == "cancelled"
    assert report["cancelled"]["left"] == 0, "the command ran on when the prompt was answered"
    assert report["second"] == {"stop": "end_turn", "text": "second"}
    assert sorted(report["listed"]) == sorted(report["sessions"])
    _killed(report)
    _known_again(report)


def _permissions(report: Json, work: Path) -> None:
    assert report["accepted"] == {"stop": "end_turn", "text": "went on", "questions": 1}
    assert (work / "accepted").exists()
    assert report["refused"] == {"stop": "end_turn", "text": "went on", "questions": 2}
    assert not (work / "refused").exists()


def _killed(report: Json) -> None:
    """Check a turn in which the daemon was killed: cancelled, with a message that says so. The next one works."""
    assert report["killed"]["stop"] == "cancelled"
    assert report["killed"]["text"].startswith("word")
    assert "daemon" in report["killed"]["text"].lower()
    assert report["back"] == {"stop": "end_turn", "text": "back"}


def _known_again(report: Json) -> None:
    assert [words for _, words in report["loaded"]] == [PROMPTS["second"], "second"]
    assert [side for side, _ in report["loaded"]] == ["user_message", "agent_message"]
    assert report["resumed"] == ""
    assert report["after"] == {"stop": "end_turn", "text": "first"}
