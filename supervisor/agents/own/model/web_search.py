"""Searches of the web that a provider carries out itself: the tools to offer, and the items to send back. No I/O.

A provider's own items go back as they came, on the wire that they came on: only it can read them.
"""

from collections.abc import Mapping
from typing import Any
from urllib.parse import urlsplit

from pydantic_core import from_json

from supervisor.agents.own.model.history_pieces import encode_json
from supervisor.agents.own.model.request import SearchItem

RESPONSES_TOOL = {"type": "web_search"}
MESSAGES_TOOL = {
    "type": "web_search_20250305",
    "name": "web_search",
    "max_uses": 8,
}  # in one answer; each costs money
OPENROUTER, OPENROUTER_PLUGIN = "openrouter.ai", {"id": "web"}
KEPT_BYTES = 1 << 20  # of one search; ten found pages are a tenth of it
QUERY_CHARACTERS = 1_000  # shown to people


def encode_kept(*items: Mapping[str, Any]) -> str:
    """Write the items that go back with later requests. Nothing if they are too long: the model has read them."""
    written = encode_json(items)
    return written.decode() if len(written) <= KEPT_BYTES else ""


def items_of(search: SearchItem) -> list[dict[str, Any]]:
    """Read the kept items; nothing if they are no list of objects any more, as in a history that was shortened."""
    try:
        items = from_json(search.kept) if search.kept else []
    except ValueError:
        return []
    return items if isinstance(items, list) and all(isinstance(item, dict) for item in items) else []


def query_of(action: Mapping[str, Any]) -> str:
    """Return the search, or the page that was opened, in words for people."""
    words = action.get("query") or action.get("url") or action.get("pattern") or ""
    return words[:QUERY_CHARACTERS] if isinstance(words, str) else ""


def plugs_in(base_url: str) -> bool:
    """Tell whether a chat server searches by a plugin. OpenRouter does; the others have no common way."""
    try:
        host = urlsplit(base_url).hostname or ""
    except ValueError:
        return False
    return host == OPENROUTER or host.endswith(f".{OPENROUTER}")
