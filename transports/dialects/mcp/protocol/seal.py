"""Sealed texts: state that a client keeps for us and returns unread and unchanged. Pure, standard library."""

import base64
import binascii
import hashlib
import hmac
import json
from collections.abc import Mapping

from transports.jsonrpc import to_json


def seal_content(secret: bytes, content: object) -> str:
    body = base64.urlsafe_b64encode(to_json(content).encode())
    return f"{body.decode()}.{_mark(secret, body)}"


def unseal(secret: bytes, text: str) -> Mapping[str, object] | None:
    """The content; None if this secret did not seal exactly this text."""
    body, _, mark = text.partition(".")
    if not hmac.compare_digest(_mark(secret, body.encode()).encode(), mark.encode()):
        return None
    try:
        content = json.loads(base64.urlsafe_b64decode(body))
    except (ValueError, binascii.Error):
        return None
    return content if isinstance(content, dict) else None


def digest(*parts: object) -> str:
    """The same for equal values, in any order of the members of an object."""
    return hashlib.sha256(json.dumps(parts, sort_keys=True).encode()).hexdigest()


def _mark(secret: bytes, body: bytes) -> str:
    return hmac.new(secret, body, hashlib.sha256).hexdigest()
