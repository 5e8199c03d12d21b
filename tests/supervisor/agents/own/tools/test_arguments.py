"""A model's arguments, whatever it wrote: values, or a short text that says what is wrong."""

import json
import re
import time

import pytest

from supervisor.agents.own.tools.arguments import BadArguments, PlanArguments, ShellArguments, parse_arguments


def wrong(kind: type[ShellArguments | PlanArguments], text: str) -> str:
    with pytest.raises(BadArguments) as told:
        parse_arguments(kind, text)
    return str(told.value)


def test_many_mistakes_are_told_by_the_first_ten() -> None:
    told = wrong(ShellArguments, json.dumps({"command": [1] * 10_000}))
    assert told.count("valid string") == 10
    assert re.search(r"; and 999\d more$", told)


def test_arguments_of_a_million_values_are_refused_unread() -> None:
    began = time.process_time()
    told = wrong(ShellArguments, '{"command":[' + "1," * 1_000_000 + "1]}")
    assert "greenroom.limits.answer_event_values" in told
    assert time.process_time() - began < 4.0


@pytest.mark.parametrize("timeout", ["1e999", "1" + "0" * 30, "1" + "0" * 400, "-1", "0", "NaN", '"soon"', "[]"])
def test_a_time_that_is_none_is_a_mistake(timeout: str) -> None:
    assert len(wrong(ShellArguments, f'{{"command":["true"],"timeout":{timeout}}}')) < 500


def test_a_name_that_is_no_argument_is_told_shortened() -> None:
    assert len(wrong(PlanArguments, json.dumps({"plan": [], "x" * 100_000: 1}))) < 1000


def test_a_time_limit_counts_by_either_of_its_two_names() -> None:
    told = [
        parse_arguments(ShellArguments, f'{{"command":["true"],"{name}":700}}') for name in ("timeout", "timeout_ms")
    ]
    assert [one.timeout for one in told] == [700, 700]
