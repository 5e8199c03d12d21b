"""Ids, errors, items, settings and the schema: the rest of the shared words."""

import importlib
import json
import pkgutil
from collections import Counter
from pathlib import Path

import pytest
from pydantic import TypeAdapter, ValidationError

import actors
import supervisor
import transports
from actors.vocabulary import errors
from actors.vocabulary.ids import Caller, ConnectionId
from actors.vocabulary.items import ImageItem, InputItem, LocalImageItem, TextItem, text_of
from actors.vocabulary.settings import DangerFullAccess, ReadOnly, SandboxPolicy, Settings, WorkspaceWrite

ROOT = Path(__file__).resolve().parents[3]

PLAIN = [
    {"type": "text", "text": "Hi"},
    {"type": "image", "image_url": "https://example.org/a.png"},
    {"type": "local_image", "path": "a.png"},
]
TAGGED = [
    {"type": "text", "data": {"text": "Hi"}},
    {"type": "image", "data": {"image_url": "https://example.org/a.png"}},
    {"type": "localImage", "data": {"path": "a.png"}},
]
INPUT: TypeAdapter[tuple[InputItem, ...]] = TypeAdapter(tuple[InputItem, ...])
MEANT: tuple[InputItem, ...] = (
    TextItem(text="Hi"),
    ImageItem(image_url="https://example.org/a.png"),
    LocalImageItem(path=Path("a.png")),
)


@pytest.mark.parametrize("spelling", [PLAIN, TAGGED], ids=["plain", "adjacently tagged"])
def test_both_spellings_of_input_mean_the_same(spelling: list[dict[str, object]]) -> None:
    assert INPUT.validate_json(json.dumps(spelling)) == MEANT


def test_input_is_journalled_in_the_plain_spelling() -> None:
    assert json.loads(INPUT.dump_json(MEANT)) == PLAIN


@pytest.mark.parametrize("wrong", [{}, {"type": "video"}, {"type": "text"}, "Hi", None, {"type": "text", "data": 1}])
def test_input_that_is_none_is_refused(wrong: object) -> None:
    with pytest.raises(ValidationError):
        INPUT.validate_python([wrong])


def test_the_words_of_a_message_leave_its_pictures_out() -> None:
    assert text_of((*MEANT, TextItem(text="there"))) == "Hi\nthere"


def test_request_ids_of_other_types_and_clients_are_other_requests() -> None:
    one, two = ConnectionId("one"), ConnectionId("two")
    assert len({Caller(one, 1), Caller(one, "1"), Caller(two, 1)}) == 3


SANDBOXES = [
    ({"mode": "danger-full-access"}, DangerFullAccess()),
    ({"mode": "read-only"}, ReadOnly()),
    ({"mode": "workspace-write"}, WorkspaceWrite()),
    (
        {"mode": "workspace-write", "writable_roots": ["/a"], "network_access": True, "exclude_slash_tmp": True},
        WorkspaceWrite(writable_roots=(Path("/a"),), network_access=True, exclude_slash_tmp=True),
    ),
]


@pytest.mark.parametrize(("written", "meant"), SANDBOXES)
def test_a_sandbox_policy_is_read_as_the_reference_writes_it(written: object, meant: object) -> None:
    assert TypeAdapter(SandboxPolicy).validate_python(written) == meant


def test_settings_survive_a_round_trip() -> None:
    settings = Settings(model="m", cwd=Path("/w"), sandbox=WorkspaceWrite(network_access=True), overrides={"a": 1})
    assert Settings.model_validate_json(settings.model_dump_json()) == settings


def every_error() -> list[type[errors.GreenroomError]]:
    known, new = [errors.GreenroomError], [errors.GreenroomError]
    while new:
        new = [one for parent in new for one in parent.__subclasses__() if one.__module__ == errors.__name__]
        known += new
    return known


def test_every_error_has_a_code_of_its_own() -> None:
    assert not [code for code, times in Counter(one.code for one in every_error()).items() if times > 1]


def test_every_error_that_has_a_number_shares_it_with_no_other() -> None:
    for package in (actors, transports, supervisor):
        for module in pkgutil.walk_packages(package.__path__, f"{package.__name__}."):
            if not module.name.endswith(("__main__", "guard_program")):  # programs
                importlib.import_module(module.name)
    numbered = Counter(one.jsonrpc for one in descendants(errors.GreenroomError) if "jsonrpc" in vars(one))
    assert not [number for number, times in numbered.items() if times > 1]


def descendants(kind: type[errors.GreenroomError]) -> list[type[errors.GreenroomError]]:
    return [one for child in kind.__subclasses__() for one in (child, *descendants(child))]


def test_our_numbers_stay_out_of_the_range_that_json_rpc_and_mcp_keep() -> None:
    standard = {-32700, -32600, -32601, -32602, -32603}
    wrong = [one for one in every_error() if -32768 <= one.jsonrpc <= -32000 and one.jsonrpc not in standard]
    assert not wrong


def test_the_tree_in_the_docstring_names_every_error() -> None:
    assert errors.__doc__ is not None
    assert not [one.__name__ for one in every_error() if one.__name__ not in errors.__doc__]


def test_errors_are_equal_when_they_say_the_same() -> None:
    assert errors.Busy("b", turn="t") == errors.Busy("b", turn="t")
    assert errors.Busy("b", turn="t") != errors.Busy("b", turn="u")
    assert errors.Busy("b") != errors.Overloaded("b")
