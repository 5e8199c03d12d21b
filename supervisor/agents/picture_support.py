"""Models that are known to see no pictures, by name. Pure; as of November 2026. Of others it is not known.

A provider refuses a request with a picture for them, and every later one of the conversation with it.
"""

import re

BLIND = re.compile(
    r"(.*/)?(gpt-3\.5|o1-mini|o1-preview|o3-mini|gpt-oss|deepseek-(chat|coder|reasoner|r1|v\d)|codestral|devstral-small"
    r"|qwen[\d.]*-?coder|codellama|starcoder|demo$)",
    re.IGNORECASE,
)


def sees_no_pictures(model: str) -> bool:
    return BLIND.match(model) is not None
