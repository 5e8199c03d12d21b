"""A patch inside a shell call: as an argument of apply_patch, or as the heredoc of a script. Pure; parses no patch.

Only `bash -lc` is looked into, as the reference does: what other shells would make of the text is theirs to say.
"""

from collections.abc import Sequence
from dataclasses import dataclass

from tree_sitter import Node

from supervisor.agent.patch.errors import PatchSyntax
from supervisor.agent.safety.bash_tree import parse_bash, text_of, walk
from supervisor.agent.safety.shell import plain_word

NAMES = ("apply_patch", "applypatch")
HEREDOC_PARTS = frozenset({"<<", "<<-", "heredoc_start", "heredoc_body", "heredoc_end"})


@dataclass(frozen=True, slots=True)
class PatchCall:
    text: str
    workdir: str | None = None  # relative to the call's own, from `cd DIR && apply_patch …`


def patch_in(argv: Sequence[str]) -> PatchCall | None:
    """None: an ordinary command. Raises PatchSyntax for a patch with other commands beside it."""
    match argv:
        case [name, text] if name in NAMES:
            return PatchCall(text)
        case ["bash", "-lc", script]:
            return _in_script(script)
        case _:
            return None


def _in_script(script: str) -> PatchCall | None:
    if not any(name in script for name in NAMES):
        return None
    root = parse_bash(script)
    if root is None:
        return None
    alone = _alone(root)
    if alone is None and _begins_with_patch(root):
        raise PatchSyntax("apply_patch must be the only command of its script, with the patch as its heredoc")
    return alone


def _alone(root: Node) -> PatchCall | None:
    match root.children:
        case [Node(type="redirected_statement", children=[command, Node(type="heredoc_redirect") as heredoc])]:
            if not HEREDOC_PARTS.issuperset(part.type for part in heredoc.children):
                return None
            if _is_apply_patch(command):
                return PatchCall(_body(heredoc))
            return _after_cd(command, heredoc)
        case _:
            return None


def _after_cd(command: Node, heredoc: Node) -> PatchCall | None:
    match command.children:
        case [Node(type="command", children=[cd, folder]), Node(type="&&"), last] if command.type == "list":
            workdir = plain_word(folder)
            named = text_of(cd) == "cd" and workdir and not workdir.startswith("-")
            return PatchCall(_body(heredoc), workdir) if named and _is_apply_patch(last) else None
        case _:
            return None


def _is_apply_patch(node: Node) -> bool:
    return node.type == "command" and text_of(node) in NAMES


def _begins_with_patch(root: Node) -> bool:
    nodes = list(walk(root))
    first = next((node for node in nodes if node.type == "command_name"), None)
    begins = first is not None and first.start_byte == root.start_byte and text_of(first) in NAMES
    return begins and any(node.type == "heredoc_redirect" for node in nodes)


def _body(heredoc: Node) -> str:
    body = "".join(text_of(part) for part in heredoc.children if part.type == "heredoc_body")
    if any(part.type == "<<-" for part in heredoc.children):
        return "\n".join(line.lstrip("\t") for line in body.split("\n"))
    return body
