"""All promises, from the simple to the special."""

from tests.judges.promise import Promise, promises_of
from tests.judges.promises import (
    cases_approvals,
    cases_faults,
    cases_life,
    cases_patches,
    cases_sessions,
    cases_stop,
    cases_turns,
    cases_wire,
)
from tests.judges.promises.trial import Trial

ALL: tuple[Promise[Trial], ...] = tuple(
    promise
    for module in (
        cases_turns,
        cases_wire,
        cases_stop,
        cases_faults,
        cases_sessions,
        cases_approvals,
        cases_patches,
        cases_life,
    )
    for promise in promises_of(module)
)
