"""What a reload changes, key by key. Pure."""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass

from supervisor.config.complain import dotted, shown
from supervisor.config.models import Config
from supervisor.config.shape import KeyPath


@dataclass(frozen=True, slots=True)
class Change:
    """`old` and `new` are for a person: secrets are masked, what isn't there is `unset`."""

    key: str
    old: str
    new: str


def differences(old: Config, new: Config) -> list[Change]:
    before = dict(_leaves(old.model_dump(mode="json")))
    after = dict(_leaves(new.model_dump(mode="json")))
    return [
        Change(dotted(path), shown(path, before.get(path)), shown(path, after.get(path)))
        for path in dict.fromkeys([*before, *after])
        if before.get(path) != after.get(path)
    ]


def _leaves(tree: Mapping[str, object], above: KeyPath = ()) -> Iterator[tuple[KeyPath, object]]:
    """An empty table has no leaves: that it is there changes nothing."""
    for key, value in tree.items():
        if isinstance(value, Mapping):
            yield from _leaves(value, (*above, key))
        else:
            yield (*above, key), value
