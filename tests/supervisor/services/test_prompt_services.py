"""Prompts for the menus of clients: saved ones with their arguments, and the skills of a directory."""

from collections.abc import Mapping
from pathlib import Path
from typing import Any

import pytest
from msgspec.json import decode, encode

from actors.vocabulary.errors import InvalidInput
from actors.vocabulary.ids import ConnectionId
from supervisor.agents.skills.saved_prompts import SavedPrompt
from supervisor.config.load import load
from supervisor.paths import Paths
from supervisor.services.prompt_services import PromptServices
from transports import supervisor_requests as ask
from transports.dialect import Client
from transports.supervisor_answers import PromptText

SKILL = "---\nname: tidy\ndescription: How we tidy up.\n---\nSort the shelves.\n"


class Prompts:
    """The service of a home, and a client in a directory of its own."""

    def __init__(self, base: Path, config: str = "") -> None:
        self.config, self.cwd = base / "config", base / "work"
        (self.config / "prompts").mkdir(parents=True)
        self.cwd.mkdir()
        file = self.config / "config.toml"
        file.write_text(config)
        paths = Paths(str(self.config), str(base / "state"), str(base / "run"))
        loaded = load(str(file), environ={})
        self._services = PromptServices(lambda: loaded.config, paths, tuple(map(Path, paths.hidden_directories)))
        self._client = Client(ConnectionId("c"), cwd=str(self.cwd), env={"HOME": str(base / "nobody")})

    def save(self, name: str, text: str) -> None:
        (self.config / "prompts" / name).write_text(text)

    def skill(self, text: str = SKILL) -> Path:
        folder = self.cwd / ".agents" / "skills" / "tidy"
        folder.mkdir(parents=True)
        (folder / "SKILL.md").write_text(text)
        return folder

    def listed(self) -> list[dict[str, Any]]:
        listed = self._services.carry_out(ask.ListPrompts(), self._client)
        prompts: list[dict[str, Any]] = decode(encode(listed))["prompts"]
        return prompts

    def read(self, name: str, arguments: Mapping[str, str] | None = None) -> str:
        found = self._services.carry_out(ask.ReadPrompt(name, arguments or {}), self._client)
        assert isinstance(found, PromptText)
        return found.text


def test_a_saved_prompt_is_listed_with_the_arguments_that_its_text_has_places_for(tmp_path: Path) -> None:
    prompts = Prompts(tmp_path)
    prompts.save(
        "review.md", "---\ndescription: Look at a file.\n---\nRead $FILE for $TICKET; $FILE again. $ARGUMENTS"
    )
    prompts.save("not a name.md", "x")
    prompts.save("notes.txt", "x")
    arguments = [("file", True), ("ticket", True), ("arguments", False)]
    told = [{"name": name, "required": required} for name, required in arguments]
    assert prompts.listed() == [{"name": "review", "description": "Look at a file.", "arguments": told}]


def test_arguments_are_put_in_their_places_and_not_looked_at_again(tmp_path: Path) -> None:
    prompts = Prompts(tmp_path)
    prompts.save("pay.md", "Pay $AMOUNT to $1 with $$5 change, not $amount.")
    assert prompts.read("pay", {"amount": "$1", "1": "Ann"}) == "Pay $1 to Ann with $5 change, not $amount."


def test_a_missing_argument_is_named(tmp_path: Path) -> None:
    prompts = Prompts(tmp_path)
    prompts.save("pay.md", "Pay $AMOUNT to $WHO. $ARGUMENTS")
    with pytest.raises(InvalidInput, match=r"needs the arguments amount$"):
        prompts.read("pay", {"who": "Ann"})


def test_a_prompt_that_is_not_there_is_refused(tmp_path: Path) -> None:
    with pytest.raises(InvalidInput, match="no prompt 'nothing'"):
        Prompts(tmp_path).read("nothing")


def test_a_skill_is_a_prompt_that_says_where_its_files_are_and_ends_with_what_is_wanted(tmp_path: Path) -> None:
    prompts = Prompts(tmp_path)
    folder = prompts.skill()
    (told,) = prompts.listed()
    assert (told["name"], told["description"]) == ("tidy", "How we tidy up.")
    assert told["arguments"][0]["required"] is False
    text = prompts.read("tidy", {"request": "only the top one"})
    assert text.endswith("Sort the shelves.\n\nonly the top one")
    assert str(folder) in text
    assert "description:" not in text


def test_a_saved_prompt_wins_over_a_skill_of_its_name(tmp_path: Path) -> None:
    prompts = Prompts(tmp_path)
    prompts.skill()
    prompts.save("tidy.md", "My own way.")
    assert [one["name"] for one in prompts.listed()] == ["tidy"]
    assert prompts.read("tidy") == "My own way."


def test_skills_that_models_are_not_offered_are_no_prompts(tmp_path: Path) -> None:
    prompts = Prompts(tmp_path, "[greenroom]\nskills = false\n")
    prompts.skill()
    assert prompts.listed() == []


def test_a_prompt_that_can_t_be_read_is_left_out(tmp_path: Path) -> None:
    prompts = Prompts(tmp_path)
    (prompts.config / "prompts" / "folder.md").mkdir()
    (prompts.config / "prompts" / "gone.md").symlink_to("nowhere")
    assert prompts.listed() == []


def test_a_dollar_sign_of_its_own_is_no_place() -> None:
    assert SavedPrompt("p", "", "$$HOME costs $5 and $x").arguments == ("5",)


def test_neither_a_prompt_nor_a_skill_shows_a_file_of_ours_or_outside_of_the_project(
    tmp_path: Path,
) -> None:
    prompts = Prompts(tmp_path)
    (tmp_path / "state").mkdir()
    for place in ("state/keys.json", "letter"):
        (tmp_path / place).write_text(SKILL.replace("name: tidy", "name: secret"))
    (prompts.config / "prompts" / "keys.md").symlink_to(tmp_path / "state" / "keys.json")
    for number, target in enumerate(("../../../../state/keys.json", str(tmp_path / "letter"))):
        folder = prompts.cwd / ".agents" / "skills" / f"s{number}"
        folder.mkdir(parents=True)
        (folder / "SKILL.md").symlink_to(target)
    assert prompts.listed() == []
