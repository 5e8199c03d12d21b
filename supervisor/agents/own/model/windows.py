"""The context windows of hosted models, by their names: a table with a date. Pure.

The config wins over it, and so does a person's own server, which loads a model with the window that fits its memory.
A model that no row knows has no window here, and none is guessed.
"""

import re

K = 1_000
M = 1 << 20

# From the providers' model pages of 2026-11-19. The first row that matches counts. Names come with a vendor before a
# slash, a date or `latest` after. Where the larger window needs a header or a plan the smaller one is meant: a
# summary too early costs less than a refusal.
TABLE: tuple[tuple[str, int], ...] = (
    (r"gpt-5(\.\d+)?-chat", 128 * K),
    (r"gpt-5(\.\d+)?", 400 * K),
    (r"gpt-4\.1", 1_047_576),
    (r"(chatgpt-)?gpt-?4o|chatgpt-4o|gpt-4-(turbo|1106|0125)|gpt-4\.5", 128 * K),
    (r"gpt-4-32k", 32_768),
    (r"gpt-4", 8_192),
    (r"gpt-3\.5", 16_385),
    (r"gpt-oss", 131_072),
    (r"o1-(mini|preview)", 128 * K),
    (r"o[134](-|$)", 200 * K),
    (r"codex-mini", 200 * K),
    (r"claude-(opus-4[-.][678]|sonnet-4[-.]6|(opus|sonnet)-5)", 1000 * K),
    (r"claude", 200 * K),
    (r"gemini-1\.5-pro", 2 * M),
    (r"gemini-(1\.5|2|3)", M),
    (r"qwen-?3-coder(-plus|-flash)", M),
    (r"qwen-?3-(coder|next|max)|qwen3\.5", 256 << 10),
    (r"qwen-(plus|flash|turbo)", M),
    (r"qwen-?(2\.5|3)|qwq|qwen-max", 131_072),
    (r"(meta-)?llama-?4-scout", 10 * M),
    (r"(meta-)?llama-?4", M),
    (r"(meta-)?llama-?3\.[123]", 131_072),
    (r"(meta-)?llama-?3", 8_192),
    (r"deepseek-(chat|reasoner|v3|r1)", 131_072),
    (r"codestral|devstral-(2|medium)", 256 * K),
    (r"(magistral|ministral|mistral-(large|medium|small|nemo)|pixtral|devstral)", 128 * K),
    (r"mixtral-8x22b", 65_536),
    (r"mi[sx]tral", 32_768),
    (r"grok-4(\.\d+)?-fast", 2000 * K),
    (r"grok-(4|code)", 256 * K),
    (r"grok-[23]", 131_072),
    (r"kimi-k2", 256 << 10),
    (r"glm-4\.[6-9]", 200 * K),
    (r"glm-4\.5", 128 * K),
)
_ROWS = tuple((re.compile(pattern), tokens) for pattern, tokens in TABLE)


def known_window(model: str) -> int | None:
    """Return how many tokens the model can read at once, or None where the table does not know it."""
    name = model.rpartition("/")[2].lower()
    return next((tokens for row, tokens in _ROWS if row.match(name)), None)
