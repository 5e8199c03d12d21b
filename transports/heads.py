"""What every dialect's lists say of a conversation, beside its id."""

from typing import Any

from actors.records import Head


def described(head: Head) -> dict[str, Any]:
    return {
        "name": head.name,
        "state": head.state,
        "cwd": head.cwd,
        "model": head.model,
        "preview": head.preview,
        "created": head.created,
        "updated": head.updated,
    }
