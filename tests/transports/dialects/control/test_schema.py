"""The committed schema is a schema, tells the truth, and is what the daemon answers with."""

import json
from pathlib import Path

import pytest
from jsonschema import Draft202012Validator

from actors.errors import AlreadyAnswered, Overloaded
from tests.support.control_judge import SCHEMA, document
from transports.dialects.control.methods import METHODS
from transports.dialects.control.schema import api_schema, main
from transports.hello import UnknownProtocol


def test_the_committed_schema_is_what_the_code_says(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["--check", str(SCHEMA)]) == 0, capsys.readouterr().err


def test_the_table_of_errors_in_the_docs_is_what_the_code_says(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    page = SCHEMA.parents[1] / "control-api.md"
    assert main(["--check", str(page)]) == 0, capsys.readouterr().err
    text = page.read_text(encoding="utf-8")
    for error in (AlreadyAnswered, Overloaded, UnknownProtocol):
        assert f"| `{error.code}` | {error.jsonrpc} |" in text
    stale = tmp_path / "page.md"
    stale.write_text(text.replace("-31004", "-31999"), encoding="utf-8")
    assert main(["--check", str(stale)]) == 1
    assert main([str(stale)]) == 0
    assert stale.read_text(encoding="utf-8") == text


def test_a_schema_that_has_drifted_is_noticed_and_written_anew(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    target = tmp_path / "control.json"
    assert main(["--check", str(target)]) == 1
    target.write_text("{}", encoding="utf-8")
    assert main(["--check", str(target)]) == 1
    assert "make reference" in capsys.readouterr().err
    assert main([str(target)]) == 0
    assert main(["--check", str(target)]) == 0
    assert json.loads(target.read_text(encoding="utf-8")) == api_schema()


def test_every_part_of_it_is_a_schema() -> None:
    shared = document()["$defs"]
    parts = [document()["error"], *(one["params"] for one in document()["notifications"].values())]
    parts += [one[side] for one in document()["methods"].values() for side in ("params", "result")]
    for part in parts:
        assert "$ref" not in part or part["$ref"].removeprefix("#/$defs/") in shared
    Draft202012Validator.check_schema({"$defs": shared})


def test_every_method_and_every_member_of_its_params_has_words() -> None:
    assert document()["methods"].keys() == METHODS.keys()
    for name, method in METHODS.items():
        assert method.summary
        if name not in {"conversation/detach", "conversation/resolve", "clients/kill"}:  # the name says it
            described = [field for field in method.params.model_fields.values() if field.description]
            assert len(described) == len(method.params.model_fields), name
