"""The figures of the house: its size, its circles and its names. `python -m tools.figures` prints them."""

import ast
from collections import defaultdict
from collections.abc import Iterator
from functools import cache
from graphlib import CycleError, TopologicalSorter
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
PACKAGES = ("actors", "transports", "supervisor", "greenroom")
GENERATED = {"greenroom/answers.py", "greenroom/events.py"}
OWNERS_OF_EVENT_TYPES = (
    "actors/vocabulary/",
    "transports/dialects/codex/",
    "supervisor/journal/old_events.py",
    "greenroom/events.py",
)
COMMON_WORDS = {"error", "tool_call"}  # event types, and words of other wires
NOT_PAGES = ("docs/reference/", "docs/performance", "docs/acp-promises", "docs/mcp-promises", "docs/mcp-clients")

IRREGULAR = """
asked begun bound broken brought built chosen cut drawn driven fallen felt forgotten found given gone grown
had heard held hidden hung kept known laid led left lent lost made meant met misread paid said seen sent shown
spent spoken struck strung taken taught thought told torn understood undone unheard unkept unseen unsent
wanted woken won worn wound written
"""
VERBS = """
embed exceed feed heed need proceed seed shed speed succeed weed
"""
ADVERBS = """
about above after again against ahead alike alone already also always anew apart around aside at away back
because before behind below beside between beyond both deeper down elsewhere everything first further here
inside instead last late later more most near nearest never next of off on one only out outermost outside over
same since so soon surely that then there these this through together too until up what when where which who
whole why with within without yet
"""
BARE = frozenset((IRREGULAR + ADVERBS).split())


def is_bare(name: str) -> bool:
    """Whether a function's whole name is a participle or an adverb, so that a stranger can't guess what it does."""
    word = name.strip("_")
    if "_" in word or name.startswith("__"):
        return False
    return word in BARE or (word.endswith("ed") and word not in VERBS.split())


def sources() -> list[Path]:
    return [path for package in PACKAGES for path in sorted((ROOT / package).rglob("*.py"))]


def name_of(path: Path) -> str:
    return str(path.relative_to(ROOT))


@cache
def parsed(path: Path) -> ast.Module:
    return ast.parse(path.read_text(encoding="utf-8"))


def nodes() -> Iterator[tuple[Path, ast.AST]]:
    for path in sources():
        for node in ast.walk(parsed(path)):
            yield path, node


def bare_functions() -> list[str]:
    functions = ((path, node) for path, node in nodes() if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef))
    return [f"{name_of(path)}:{node.lineno} {node.name}" for path, node in functions if is_bare(node.name)]


def classes_with_two_meanings() -> dict[str, list[str]]:
    places: dict[str, list[str]] = defaultdict(list)
    for path in sources():
        for node in parsed(path).body:
            if isinstance(node, ast.ClassDef) and node.name[0] != "_" and name_of(path) not in GENERATED:
                places[node.name].append(name_of(path))
    return {name: where for name, where in places.items() if len(where) > 1}


def folder_imports() -> dict[str, set[str]]:
    folders: dict[str, set[str]] = defaultdict(set)
    for path, node in nodes():
        if path.name == "__main__.py":  # an entry point, which nobody imports
            continue
        names = []
        if isinstance(node, ast.Import):
            names = [alias.name for alias in node.names]
        elif isinstance(node, ast.ImportFrom):
            names = [f"{node.module}.{alias.name}" for alias in node.names]
        mine = name_of(path.parent)
        folders[mine] |= {folder for name in names for folder in folder_of(name) if folder != mine}
    return folders


def folder_of(name: str) -> Iterator[str]:
    for candidate in (name, name.rpartition(".")[0]):
        place = ROOT / candidate.replace(".", "/")
        if candidate and candidate.partition(".")[0] in PACKAGES:
            if place.with_suffix(".py").is_file():
                yield name_of(place.parent)
                return
            if (place / "__init__.py").is_file():
                yield name_of(place)
                return


def folders_in_circles() -> set[str]:
    """The folders that import themselves by way of others, found circle by circle."""
    imports, found = folder_imports(), set[str]()
    while True:
        try:
            TopologicalSorter(imports).prepare()
        except CycleError as error:
            circle = error.args[1]
            found |= set(circle)
            imports[circle[1]].discard(circle[0])
        else:
            return found


def event_type_literals() -> list[str]:
    from actors.vocabulary.events import EVENTS, type_of

    types = set(map(type_of, EVENTS)) - COMMON_WORDS
    return [
        f"{name_of(path)}:{node.lineno} {node.value}"
        for path, node in nodes()
        if isinstance(node, ast.Constant) and node.value in types
        if not name_of(path).startswith(OWNERS_OF_EVENT_TYPES)
    ]


def untyped_objects() -> list[str]:
    names = ((path, node) for path, node in nodes() if isinstance(node, ast.Name) and node.id == "JsonObject")
    return [f"{name_of(path)}:{node.lineno}" for path, node in names if "transports/dialects/" in name_of(path)]


def words_of_pages() -> int:
    pages = [path for path in (ROOT / "docs").rglob("*.md") if not name_of(path).startswith(NOT_PAGES)]
    return sum(len(path.read_text(encoding="utf-8").split()) for path in pages)


def main() -> None:
    bare = bare_functions()
    rows = {
        "source lines": sum(len(path.read_text(encoding="utf-8").splitlines()) for path in sources()),
        "source files": len(sources()),
        "folders in circles": len(folders_in_circles()),
        "class names with two meanings": len(classes_with_two_meanings()),
        "functions named by a bare participle or adverb": len(bare),
        "of these public": sum(not row.rpartition(" ")[2].startswith("_") for row in bare),
        "literals of event types outside their owners": len(event_type_literals()),
        "`JsonObject` in dialects": len(untyped_objects()),
        "words of pages in docs, with generated parts": words_of_pages(),
    }
    for what, figure in rows.items():
        print(f"{figure:>8,}  {what}")  # noqa: T201  # a program


if __name__ == "__main__":
    main()
