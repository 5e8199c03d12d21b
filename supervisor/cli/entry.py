"""The entry point of `greenroom`: a bridge at once for `mcp` and `acp`, the command line for other verbs."""

import sys

MCP = ("mcp", "mcp-server")
ACP = ("acp",)
OWN = ("-h", "--help", "-V", "--version")  # options that act as verbs
# Options that may stand before the verb, as in `codex -m MODEL mcp-server`, and take a value.
SHORT = ("-c", "-m", "-p", "-s", "-a", "-C")
LONG = ("--config", "--model", "--profile", "--sandbox", "--approval", "--ask-for-approval", "--cd", "--agent")


def main() -> int:
    sys.argv[1:] = words = verb_first(sys.argv[1:])
    if words and words[0] in MCP and not {"-h", "--help"} & set(words):
        from supervisor.cli.mcp import main as mcp

        return mcp(words[1:])
    if words and words[0] in ACP and not {"-h", "--help"} & set(words):
        from supervisor.cli.acp import main as acp

        return acp(words[1:])
    from supervisor.cli.app import main as everything

    return everything()


def verb_first(words: list[str]) -> list[str]:
    """The same words with the verb before its options."""
    at = 0
    while at < len(words) and words[at].startswith("-") and words[at] not in OWN:
        at += 2 if words[at] in SHORT or words[at] in LONG else 1
    return [words[at], *words[:at], *words[at + 1 :]] if 0 < at < len(words) else words
