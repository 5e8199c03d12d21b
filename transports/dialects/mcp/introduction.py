"""The handshake, and what else can be answered before there is a daemon: lists that only the program and one setting
decide. Standard library alone, since the bridge answers from here; the daemon's answers have the same bytes.

The name of the server is the one that Codex clients look for; the title, which people read, is our own.
"""

from __future__ import annotations

from transports import SERVER

TYPE_CHECKING = False  # loading typing costs more than all of the bridge
if TYPE_CHECKING:
    from collections.abc import Collection

    from transports.bridge.messages import Message

REVISIONS = ("2024-11-05", "2025-03-26", "2025-06-18", "2025-11-25")
NEWEST = REVISIONS[-1]
WITH_ICONS = "2025-11-25"
TITLE = "Greenroom"
LISTED = (
    "codex",
    "codex-reply",
    "list_conversations",
    "interrupt_conversation",
    "waiting_messages",
    "read_conversation",
    "answer_approval",
)
INSTRUCTIONS = {
    "codex-reply": "codex-reply goes on with a conversation, by its threadId: also if its call was lost, or if it "
    "was begun elsewhere.",
    "list_conversations": "list_conversations shows all conversations, those of other clients too: which run, which "
    "wait for an answer, which are idle.",
    "answer_approval": "answer_approval answers the question that a conversation waits for, as the person decides.",
}
ICON = (  # a stage door that stands open
    '<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 16 16"><path fill="#2e8b57" '
    'd="M3 1h10v14H3z"/><path fill="#fff" d="M5 3l5 1.5v9L5 13z"/><circle cx="9" cy="9" r=".8" fill="#2e8b57"/></svg>'
)


def agreed(wanted: str) -> str:
    """The client's revision if we speak it, else our newest."""
    return wanted if wanted in REVISIONS else NEWEST


def welcome(revision: str, version: str, tools: Collection[str]) -> Message:
    """The result of `initialize`. `version`: the program's. `tools`: those that are listed."""
    info = {"name": SERVER, "title": TITLE, "version": version}
    lines = [line for name, line in INSTRUCTIONS.items() if name in tools]
    return {
        "capabilities": {
            "tools": {"listChanged": True},
            "resources": {"subscribe": True, "listChanged": True},
            "logging": {},
            "completions": {},
        },
        "protocolVersion": revision,
        "serverInfo": {**info, "icons": [_icon()]} if revision >= WITH_ICONS else info,
        **({"instructions": "\n".join(lines)} if lines else {}),
    }


def _icon() -> Message:
    from binascii import b2a_base64

    drawn = b2a_base64(ICON.encode(), newline=False).decode()
    return {"src": f"data:image/svg+xml;base64,{drawn}", "mimeType": "image/svg+xml", "sizes": ["any"]}
