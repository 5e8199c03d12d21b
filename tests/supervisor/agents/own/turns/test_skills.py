"""Skills in a conversation: the model is told of them, reads one, and the config turns them off."""

import json
from pathlib import Path

from actors.vocabulary import events as ev
from tests.supervisor.agents.own.turns.requests import lines, talk
from tests.support.engine_harness import EngineHarness, harness_at
from tests.support.model_server import ModelServer


def a_skill(home: Path) -> Path:
    file = home / "workspace" / ".agents" / "skills" / "release" / "SKILL.md"
    file.parent.mkdir(parents=True)
    file.write_text("---\nname: release\ndescription: How a release is made.\n---\nCount to three.\n")
    return file


def told(server: ModelServer) -> list[str]:
    return [line[1] for line in lines(server.requests[-1]) if line[0] == "user" and line[1].startswith("<skills>")]


def test_a_model_is_told_of_a_skill_and_reads_it(either: EngineHarness, server: ModelServer) -> None:
    file = a_skill(either.home)
    conversation = either.talk()
    conversation.ask(f"call read_file {json.dumps({'path': str(file)})}; then; say done")
    (text,) = told(server)
    assert f"- release [project]: How a release is made. (file: {file})" in text
    assert "Count to three." in next(line[2] for line in talk(server) if line[0] == "output")
    assert [one.kind for one in conversation.all(ev.UserMessage)].count(ev.MessageKind.SKILLS) == 1


def test_the_config_turns_skills_and_tools_off(tmp_path: Path, server: ModelServer) -> None:
    a_skill(tmp_path)
    ours = 'skills = false\ndisabled_tools = ["grep", "view_image"]\n'
    with harness_at(tmp_path, server.base_url, greenroom=ours) as harness:
        harness.talk().ask('call grep {"pattern":"x"}; then; say done')
    assert told(server) == []
    offered = {tool["function"]["name"] for tool in server.requests[-1].body["tools"]}
    assert "read_file" in offered
    assert not offered & {"grep", "view_image"}
    assert [line[2] for line in talk(server) if line[0] == "output"] == ["unsupported call: grep"]


def test_skills_that_are_gone_are_taken_back_once(harness: EngineHarness, server: ModelServer) -> None:
    file = a_skill(harness.home)
    conversation = harness.talk()
    conversation.ask("say hi")
    file.unlink()
    conversation.ask("say hi")
    conversation.ask("say hi")
    assert ["release" in text for text in told(server)] == [True, False]
