"""The names that a conversation may be given. Names in earlier journals stay as they are. Pure."""

from actors.vocabulary.errors import InvalidInput
from actors.vocabulary.visible import hidden_in, visible


def refused_name(name: str | None) -> InvalidInput | None:
    """The refusal of a name that nobody could read and type again."""
    if name is None:
        return None
    hidden = hidden_in(name)
    if hidden:
        return InvalidInput(f"the name {visible(name)} is not accepted: nobody can see its {hidden}; leave it out")
    if name and not name.strip():
        return InvalidInput("a name of blanks alone is not accepted, because nobody can see it; use letters")
    return None
