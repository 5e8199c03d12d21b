"""Requests with members of wrong types: the daemon answers once and lives on."""

from typing import Any

from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from tests.support.control_peer import ControlPeer, Refused
from transports.dialects.control.methods import METHODS

# Stopping would end the daemon of all tests, and sending away this client.
LEFT_OUT = {"daemon/down", "clients/kill"}
MEMBERS = [
    (name, member)
    for name, method in sorted(METHODS.items())
    for member in method.params.model_fields
    if name not in LEFT_OUT
]
SCALARS = st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False, allow_infinity=False) | st.text()
VALUES = st.recursive(
    SCALARS,
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=4), inner, max_size=3),
    max_leaves=5,
)


def refusal_of(client: ControlPeer, method: str, params: dict[str, Any]) -> Refused | None:
    try:
        client.call(method, **params)
    except Refused as refused:
        return refused
    return None


@settings(suppress_health_check=[HealthCheck.function_scoped_fixture, HealthCheck.too_slow])
@given(data=st.data())
def test_a_member_of_any_type_is_served_or_refused_and_never_an_internal_error(
    client: ControlPeer, data: st.DataObject
) -> None:
    method, member = data.draw(st.sampled_from(MEMBERS))
    params: dict[str, Any] = {member: data.draw(VALUES)}
    if "conversation" in METHODS[method].params.model_fields and data.draw(st.booleans()):
        params = {"conversation": "00000000-0000-4000-8000-000000000000", **params}
    refused = refusal_of(client, method, params)
    assert refused is None or refused.code == -32602 or -31999 < refused.code <= -31000, refused


def test_every_member_refuses_every_type_that_is_not_its_own_by_name(client: ControlPeer) -> None:
    for method, member in MEMBERS:
        schema = METHODS[method].params.model_json_schema()["properties"][member]
        kinds = {one.get("type") for one in schema.get("anyOf", [schema])}
        for kind, value in (("boolean", True), ("integer", 7), ("array", [[7]]), ("object", {"x": [7]})):
            if kind in kinds or (kind == "integer" and "number" in kinds):
                continue
            refusal = client.refusal(method, **{member: value})
            assert refusal.code == -32602
            assert member in refusal.message, refusal.message
