"""The table of what agents keep of their homes: it stands in the documentation, and names no setting."""

from pathlib import Path

import pytest

from supervisor.work.reach.agent_homes import DATABASES, HOMES, KeptNames
from supervisor.work.reach.known_agents import KNOWN_AGENTS
from supervisor.work.reach.obeyed_files import obeyed_in_place

PAGE = Path(__file__).resolve().parents[4] / "docs/agents.md"


def row(agent: str, place: tuple[str, ...], keeps: KeptNames) -> str:
    folders = [f"`{name}/`" for name in keeps.folders]
    files = [f"`{name}`" for name in (*keeps.files, *keeps.empty_files)]
    cells = [
        f"{KNOWN_AGENTS[agent].title}, `{place[-1]}`",
        ", ".join(sorted((*folders, *files))) or "nothing",
        ", ".join(f"`{name}`" for name in keeps.copies),
        ", ".join(f"`{name}/`" for name in (*keeps.memory, *keeps.empty_folders)),
    ]
    return f"| {' | '.join(cells)} |".replace("  ", " ")


def test_the_page_has_the_table() -> None:
    rows = [
        row(agent, place, keeps)
        for agent, homes in HOMES.items()
        for place, keeps in zip(KNOWN_AGENTS[agent].places, homes, strict=True)
    ]
    said = PAGE.read_text(encoding="utf-8")
    missing = [one for one in rows if one not in said]
    assert not missing, "\n".join(["docs/agents.md lacks:", *missing])
    assert sum(line.count("`~/") for line in said.splitlines() if line in rows) == len(rows)


def test_databases_are_moved_to_where_they_are_kept() -> None:
    for agent, moved in DATABASES.items():
        for number, name in moved.values():
            assert Path(name).parts[0] in HOMES[agent][number].folders


@pytest.mark.parametrize("agent", HOMES)
def test_nothing_that_is_kept_has_the_name_of_a_setting(tmp_path: Path, agent: str) -> None:
    """By the names that settings have anywhere."""
    for keeps in HOMES[agent]:
        for name in keeps.folders:
            (tmp_path / name).mkdir(exist_ok=True)
        for name in (*keeps.files, *keeps.empty_files):
            (tmp_path / name).touch()
    missing = {tmp_path / name for name in ("extensions", "hooks", "plugins", "skills")}
    assert set(obeyed_in_place(tmp_path)) == missing
