"""Clients' environments: bounded each and together, and kept once."""

import gc

from actors.vocabulary.errors import InvalidInput, Overloaded
from transports.environments import Environment, EnvironmentPool


def test_equal_environments_are_one() -> None:
    pool = EnvironmentPool()
    assert pool.take({"A": "1", "B": "2"}) is pool.take({"B": "2", "A": "1"})


def test_one_that_is_too_large_is_refused_by_the_name_of_the_bound() -> None:
    refused = EnvironmentPool(each=10).take({"A": "x" * 10})
    assert isinstance(refused, InvalidInput)
    assert "greenroom.limits.environment_bytes" in refused.message


def test_all_together_are_bounded_and_room_is_made_when_a_client_leaves() -> None:
    pool = EnvironmentPool(each=10, together=15)
    first = pool.take({"A": "x" * 9})
    assert isinstance(first, Environment)
    refused = pool.take({"B": "x" * 9})
    assert isinstance(refused, Overloaded)
    assert "greenroom.limits.environments_bytes" in refused.message
    del first
    gc.collect()
    assert isinstance(pool.take({"B": "x" * 9}), Environment)
