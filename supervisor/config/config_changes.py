"""The changes between two configurations, key by key. Pure."""

from collections.abc import Iterator, Mapping

from supervisor.config.config_problems import dotted_path, shown_value
from supervisor.config.key_types import KeyPath
from supervisor.config.whole_config import Config
from transports.supervisor_answers import KeyChange

# Keys that count from the next start of the daemon; all others from the next conversation, turn or request.
LIMITS_AT_THE_NEXT_START = (
    *("frame_bytes", "message_values", "connections", "live_sessions"),
    *("queue_length", "queue_bytes", "event_bytes", "environment_bytes", "environments_bytes"),
    *("answer_bytes", "answer_tool_calls", "answer_items", "answer_event_bytes", "answer_event_values"),
    *("answer_silent_bytes", "answer_head_bytes", "answer_headers", "refusal_bytes", "refusal_seconds"),
    *("transcripts", "transcripts_bytes"),
)
AT_THE_NEXT_START: tuple[KeyPath, ...] = (
    ("greenroom", "idle_park_seconds"),
    ("greenroom", "interrupt_grace_ms"),
    ("greenroom", "on_disconnect"),
    ("greenroom", "log_level"),
    ("greenroom", "log_file_bytes"),
    ("greenroom", "log_backups"),
    ("greenroom", "mcp", "unanswerable_seconds"),
    *(("greenroom", "limits", name) for name in LIMITS_AT_THE_NEXT_START),
)


def differences(old: Config, new: Config) -> list[KeyChange]:
    before = dict(_leaves(old.model_dump(mode="json")))
    after = dict(_leaves(new.model_dump(mode="json")))
    return [
        KeyChange(
            dotted_path(path), shown_value(path, before.get(path)), shown_value(path, after.get(path)), is_live(path)
        )
        for path in dict.fromkeys([*before, *after])
        if before.get(path) != after.get(path)
    ]


def is_live(path: KeyPath) -> bool:
    return path not in AT_THE_NEXT_START


def _leaves(tree: Mapping[str, object], above: KeyPath = ()) -> Iterator[tuple[KeyPath, object]]:
    """All values with their paths. An empty table has none."""
    for key, value in tree.items():
        if isinstance(value, Mapping):
            yield from _leaves(value, (*above, key))
        else:
            yield (*above, key), value
