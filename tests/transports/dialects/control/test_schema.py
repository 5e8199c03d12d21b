"""The schema is valid, has words for everything, and matches the answers and the events that are written."""

import json
import re
from types import ModuleType
from typing import Any

import pytest
from jsonschema import Draft202012Validator
from msgspec import Struct

from actors.vocabulary import answers as answers_of_actors
from actors.vocabulary.errors import AlreadyAnswered, Overloaded
from tests.actors.vocabulary.test_events import EVENT_ADAPTER, LITERAL
from tests.docs.pages import DOCS
from tests.support.control_judge import document
from tools.reference.errors import with_errors
from transports import supervisor_answers as answers_of_the_supervisor
from transports.dialects.control.api import answers as own_answers
from transports.dialects.control.api.method_descriptions import DESCRIPTIONS
from transports.dialects.control.methods import METHODS
from transports.dialects.control.schema import events_schema
from transports.hello import UnknownProtocol


def test_the_table_of_errors_is_on_the_page_and_a_wrong_one_is_replaced() -> None:
    text = (DOCS / "control-api.md").read_text(encoding="utf-8")
    for error in (AlreadyAnswered, Overloaded, UnknownProtocol):
        assert f"| `{error.code}` | {error.jsonrpc} |" in text
    assert with_errors(text.replace("-31004", "-31999")) == text


def test_every_part_of_it_is_a_schema() -> None:
    shared = document()["$defs"]
    parts = [document()["error"], *(one["params"] for one in document()["notifications"].values())]
    parts += [one[side] for one in document()["methods"].values() for side in ("params", "result")]
    for part in parts:
        assert "$ref" not in part or part["$ref"].removeprefix("#/$defs/") in shared
    Draft202012Validator.check_schema({"$defs": shared})


@pytest.mark.parametrize("literal", LITERAL, ids=lambda one: one["type"])
def test_an_event_is_written_as_the_schema_of_events_says(literal: dict[str, Any]) -> None:
    event = EVENT_ADAPTER.validate_python(literal)
    written = event.model_dump(mode="json")
    envelope = {"conversation": "7f3a", "seq": 1, "ts": 1.0, "turn": None, "event": written}
    judge = Draft202012Validator(events_schema())
    judge.validate(envelope)
    assert not judge.is_valid({**envelope, "event": {**written, "type": "no_such_thing"}})


def test_every_method_and_every_member_of_its_params_has_words() -> None:
    assert document()["methods"].keys() == METHODS.keys() == DESCRIPTIONS.keys()
    for name, method in METHODS.items():
        assert DESCRIPTIONS[name].summary
        if name not in {"conversation/detach", "conversation/resolve", "clients/kill"}:  # the name says it
            described = [field for field in method.params.model_fields.values() if field.description]
            assert len(described) == len(method.params.model_fields), name


def test_every_member_of_every_answer_has_words() -> None:
    definitions, reached = document()["$defs"], set[str]()
    ahead = [method["result"] for method in document()["methods"].values()]
    while ahead:
        for name in set(re.findall(r"#/\$defs/(\w+)", json.dumps(ahead.pop()))) - reached:
            reached.add(name)
            ahead.append(definitions[name])
    answers = {
        *answer_structs(answers_of_actors),
        *answer_structs(answers_of_the_supervisor),
        *answer_structs(own_answers),
    }
    assert {"ConversationRow", "Agent", "Job"} <= reached
    for name in reached & answers:
        assert all("description" in member for member in definitions[name]["properties"].values()), name


def answer_structs(module: ModuleType) -> set[str]:
    return {name for name, kind in vars(module).items() if isinstance(kind, type) and issubclass(kind, Struct)}
