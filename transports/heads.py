"""A conversation as the lists of every dialect describe it, beside its id."""

from actors.vocabulary.records import Head
from transports.jsonrpc import JsonObject


def described(head: Head) -> JsonObject:
    return {
        "name": head.name,
        "state": head.state,
        "cwd": head.cwd,
        "model": head.model,
        "preview": head.preview,
        "created": head.created,
        "updated": head.updated,
    }
