"""Recognition of secrets: by the names that hold them, and within a text, where they are cut out.

Pure functions for the logs, the config's complaints and `greenroom reload`. Safe from any thread.
"""

import re

REDACTED = "[redacted]"

_NAME = re.compile(
    r"(?:^|_)(?:proxy_authorization|authorization|cookies?|credentials?|bearer|jwt"
    r"|pass(?:word|wd|phrase)|secrets?|tokens?|(?:api|access|private|secret|signing|encryption)_?keys?)(?:_|$)"
)
_CAMEL = re.compile(r"(?<=[a-z0-9])(?=[A-Z])")
# These names say where a secret is, and hold none.
_HARMLESS_NAMES = frozenset({"env_key", "env_key_instructions"})

# Clients choose the texts that are logged, so no pattern may cost more than a few steps per character: each begins
# with a fixed word or at the start of a run, and every repetition between two fixed parts is bounded.
_ASSIGNED = (
    r"(?i)((?:api[_-]?key|token|secret|passw(?:or)?d)[\w-]{0,40}[\"']?\s{0,4}(?:=|:\s|:(?=[\"'])|,\s(?=[\"']))\s{0,4}[\"']?)"
    r"(?!\d+\b|\[redacted)[^\s\"'&,;)}\]]+"
)
_PATTERNS: tuple[tuple[re.Pattern[str], str], ...] = tuple(
    (re.compile(pattern), replacement)
    for pattern, replacement in (
        # The whole header line: other schemes than Bearer have a space in the middle too.
        (
            r"(?i)\b((?:proxy-)?authorization|(?:set-)?cookie)\b([\"']?\s{0,4}[:=,]\s{0,4}[\"']?)[^\"'\r\n]+",
            rf"\1\2{REDACTED}",
        ),
        (r"(?i)\b(bearer|basic)\s{1,4}[\w.~+/=-]{8,}", rf"\1 {REDACTED}"),
        (r"\b(?:sk|pk|rk)[-_][\w-]{8,}", REDACTED),
        (r"\b(?:gh[pousr]_|github_pat_|glpat-|xox[abeoprs]-|hf_|AKIA|AIza)[\w-]{12,}", REDACTED),
        (r"(?<![\w-])eyJ[\w-]{8,}\.[\w-]+\.[\w-]*", REDACTED),
        (r"(?<=://)[^\s/@:]*:[^\s/@]+@", f"{REDACTED}@"),
        (_ASSIGNED, rf"\1{REDACTED}"),
        # pydantic quotes the beginning of a refused value, which may be a prompt.
        (r"(?s)\binput_value=.{0,400}?, input_type=", f"input_value={REDACTED}, input_type="),
    )
)


def names_a_secret(name: str) -> bool:
    """Whether this name holds a secret: `api_key`, `X-Auth-Token`, `clientSecret`…"""
    plain = _CAMEL.sub("_", name).replace("-", "_").lower()
    return plain not in _HARMLESS_NAMES and _NAME.search(plain) is not None


def scrub(text: str) -> str:
    """The text without words that look like a key, a token, a password or an authorization header."""
    for pattern, replacement in _PATTERNS:
        text = pattern.sub(replacement, text)
    return text
