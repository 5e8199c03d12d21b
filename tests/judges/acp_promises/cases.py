"""All promises, from the simple to the special."""

from tests.judges.acp_promises import (
    cases_life,
    cases_permissions,
    cases_sessions,
    cases_stop,
    cases_turns,
    cases_wire,
)
from tests.judges.acp_promises.trial import Trial
from tests.judges.promise import Promise, promises_of

ALL: tuple[Promise[Trial], ...] = tuple(
    promise
    for module in (cases_wire, cases_turns, cases_stop, cases_permissions, cases_sessions, cases_life)
    for promise in promises_of(module)
)
