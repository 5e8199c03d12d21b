"""Prompts for the menus of clients: saved prompts, and the skills of the client's directory. On a worker thread."""

from collections.abc import Callable
from pathlib import Path

from actors.vocabulary.errors import InvalidInput
from supervisor.agents.skills.finding import Skill, find_skills
from supervisor.agents.skills.saved_prompts import (
    OPTIONAL,
    PROMPT_BYTES,
    SavedPrompt,
    saved_prompts,
    without_front_matter,
)
from supervisor.config.whole_config import Config
from supervisor.disk.ordinary_files import NotReadable
from supervisor.paths import Paths
from supervisor.work.reach.readable import Reach
from transports import supervisor_requests as ask
from transports.dialect import Client
from transports.supervisor_answers import MenuPrompt, MenuPrompts, PromptArgument, PromptText

BEGINNING_LENGTH = 120
REQUEST = "request"  # the argument of a skill: what to do with it


class PromptServices:
    def __init__(self, config: Callable[[], Config], paths: Paths, hidden: tuple[Path, ...]) -> None:
        """`hidden`: folders that are never read, because a client sends its prompts to its model."""
        self._config = config
        self._paths = paths
        self._hidden = hidden

    def carry_out(self, request: ask.ListPrompts | ask.ReadPrompt, client: Client) -> MenuPrompts | PromptText:
        reach = Reach.for_commands(
            Path(client.cwd), {"HOME": client.env.get("HOME") or self._paths.home}, self._hidden
        )
        saved = {prompt.name: prompt for prompt in saved_prompts(Path(self._paths.config), reach)}
        skills = {skill.name: skill for skill in self._skills(reach)}
        if isinstance(request, ask.ListPrompts):
            rows = {name: _skill_row(skill) for name, skill in skills.items()}
            rows |= {name: _prompt_row(prompt) for name, prompt in saved.items()}
            return MenuPrompts(tuple(rows[name] for name in sorted(rows)))
        if request.name in saved:
            return _fill_prompt(saved[request.name], request)
        if request.name in skills:
            return _skill(skills[request.name], request, reach)
        raise InvalidInput(f"no prompt {request.name!r}; prompts/list has those that there are")

    def _skills(self, reach: Reach) -> list[Skill]:
        if not self._config().greenroom.skills:
            return []
        found = find_skills(str(reach.cwd), str(reach.home or ""), self._paths.config, reach.read)
        return [skill for skill in found if not skill.wrong]


def _prompt_row(prompt: SavedPrompt) -> MenuPrompt:
    arguments = tuple(PromptArgument(name, required=name != OPTIONAL) for name in prompt.arguments)
    return MenuPrompt(prompt.name, _description(prompt), arguments)


def _description(prompt: SavedPrompt) -> str:
    """The prompt's own description, or else its beginning."""
    return prompt.description or prompt.text.partition("\n")[0][:BEGINNING_LENGTH]


def _skill_row(skill: Skill) -> MenuPrompt:
    argument = PromptArgument(REQUEST, required=False, description="What to do with it.")
    return MenuPrompt(skill.name, skill.description, (argument,))


def _fill_prompt(prompt: SavedPrompt, request: ask.ReadPrompt) -> PromptText:
    missing = prompt.missing_arguments(request.arguments)
    if missing:
        raise InvalidInput(f"the prompt {prompt.name!r} needs the arguments {', '.join(missing)}")
    return PromptText(_description(prompt), prompt.fill_in(request.arguments))


def _skill(skill: Skill, request: ask.ReadPrompt, reach: Reach) -> PromptText:
    try:
        text = reach.read(skill.path, PROMPT_BYTES, skill.within).decode("utf-8", "replace")
    except NotReadable as error:
        raise InvalidInput(f"the skill {skill.name!r} can't be read: {error.reason}") from None
    where = f"Follow these instructions; files that they name are relative to {Path(skill.path).parent}."
    wanted = request.arguments.get(REQUEST, "").strip()
    parts = [where, without_front_matter(text), *([wanted] if wanted else [])]
    return PromptText(skill.description, "\n\n".join(parts))
