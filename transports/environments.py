"""The environments of clients: bounded each and together; clients with equal ones share a copy.

Loop thread. An editor that opens fifty connections has one environment, and so have most terminals of a person.
"""

from collections.abc import Mapping
from weakref import WeakValueDictionary

from actors.vocabulary.errors import GreenroomError, InvalidInput, Overloaded

EACH_LIMIT = 2 << 20  # characters; the most that Linux starts a program with, so a client has no more itself
TOTAL_LIMIT = 64 << 20  # characters; thirty of the largest, thousands of ordinary ones


class Environment(dict[str, str]):
    """An environment, never changed. A class, because a plain dict can't be referenced weakly."""

    __slots__ = ("__weakref__", "size")
    size: int


def size_of(env: Mapping[str, str]) -> int:
    return sum(len(name) + len(value) for name, value in env.items())


class EnvironmentPool:
    def __init__(self, each: int = EACH_LIMIT, together: int = TOTAL_LIMIT) -> None:
        self._each = each
        self._together = together
        self._known: WeakValueDictionary[int, Environment] = WeakValueDictionary()

    def take(self, env: Mapping[str, str]) -> Environment | GreenroomError:
        """The stored environment that equals this one; store it if there is none."""
        size = size_of(env)
        if size > self._each:
            refusal = f"the environment has {size} characters, {self._each} are possible"
            return InvalidInput(f"{refusal} (greenroom.limits.environment_bytes)")
        key = hash(frozenset(env.items()))
        known = self._known.get(key)
        if known is not None and known == env:
            return known
        others = sum(environment.size for environment in self._known.values())
        if others + size > self._together:
            refusal = f"the environments of all clients have {others} characters, {self._together} are possible"
            return Overloaded(f"{refusal} (greenroom.limits.environments_bytes); try again when some have left")
        stored = Environment(env)
        stored.size = size
        self._known[key] = stored
        return stored
