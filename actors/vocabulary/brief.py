"""Texts that are too long for where they are shown: their beginning, and `…` for the rest. A leaf."""


def brief(text: str, most: int) -> str:
    """Return the text in no more than so many characters."""
    return text if len(text) <= most else f"{text[: most - 1]}…"


def brief_line(text: str, most: int) -> str:
    """Return the text as one line of no more than so many characters."""
    return brief(" ".join(text.split()), most)
