"""The texts of summing up: the request for notes, and the text that replaces older history. Pure."""

from collections.abc import Iterable, Iterator, Sequence

from actors.vocabulary import events as ev
from supervisor.agents.history_outline import Words

ASK = """\
[This is not a message of the user.] The conversation has to be shortened, because your context is nearly full. \
Write the notes with which you will go on with it; they take the place of what was said and done so far. The user's \
own messages, the plan and the names of open files are kept beside them word for word, so don't repeat those.

Say in plain words: what was found out, with the names, numbers and commands that matter; what was decided, and why; \
what was changed and where; what was tried and failed; what is being done at this moment and what comes next. Leave \
nothing out that you would have to look up again. Write at most {words} words, call no tool, answer nothing else.\
"""
AGAIN = "\n\nYour last answer had no text. Answer with the notes as plain text now; do not call a tool."
ASK_OPENING = ASK[:60]  # by which the built-in model recognises the request

OPENING = (
    "[The earlier part of this conversation was summed up to make room. What follows stands for it, and the "
    "conversation goes on behind it.]"
)


def notes_request(words: int, *, again: bool = False) -> str:
    return ASK.format(words=words) + (AGAIN if again else "")


def replacement_text(summed: ev.Compacted, words: Sequence[Words]) -> str:
    """Return the text that a model reads in place of summed-up events."""
    parts = [OPENING]
    if words:
        parts.append("The user's messages so far, oldest first:\n" + "\n".join(_message_lines(summed, words)))
    parts.append(f"Your own notes:\n{summed.summary}")
    if summed.plan:
        parts.append("The plan:\n" + "\n".join(f"[{step.status}] {step.step}" for step in summed.plan))
    if summed.files:
        parts.append("Files read or changed last: " + ", ".join(map(_one_line, summed.files)))
    return "\n\n".join(parts)


def _message_lines(summed: ev.Compacted, words: Iterable[Words]) -> Iterator[str]:
    left_out = 0
    for message in words:
        if summed.words_cut_seq is not None and message.seq <= summed.words_cut_seq:
            if not summed.words_cut_to:
                left_out += 1
                continue
            yield f"- {shorten(message.text, summed.words_cut_to)}{_pictures(message)}"
        else:
            if left_out:
                yield f"[{left_out} older messages are left out: they don't fit]"
                left_out = 0
            yield f"- {message.text}{_pictures(message)}"
    if left_out:
        yield f"[{left_out} older messages are left out: they don't fit]"


def shorten(text: str, length: int) -> str:
    return text if len(text) <= length else f"{text[:length]} […]"


def _one_line(name: str) -> str:
    """Return a file's name, which may come from anybody, without line ends that would begin another part."""
    return "".join(char if char.isprintable() else "\ufffd" for char in name)


def _pictures(words: Words) -> str:
    return f" [with {words.pictures} pictures, no longer shown]" if words.pictures else ""


def join_files(before: Iterable[str], now: Iterable[str], most: int) -> tuple[str, ...]:
    """Return the files that were open last, each once, the latest last."""
    return tuple(dict.fromkeys(reversed((*before, *now))))[:most][::-1]


def describe_saving(summed: ev.Compacted) -> str:
    """Describe the room that summing up has made."""
    if summed.tokens_before is None or summed.tokens_after is None:
        return f"in {summed.requests} requests"
    return f"from {summed.tokens_before:,} tokens to about {summed.tokens_after:,}"
