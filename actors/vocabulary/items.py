"""The parts of a user's message, in the three spellings that clients use. A leaf.

Plain (`{"type": "text", "text": …}`, images as `local_image`) is how we journal it; the conversation methods tag
adjacently (`{"type": "text", "data": {"text": …}}`) and write `localImage`. Reading accepts all of them.
"""

from pathlib import Path
from typing import Annotated, Any, Literal

from pydantic import BaseModel, BeforeValidator, Field

from actors.vocabulary.settings import FROZEN


class TextItem(BaseModel):
    model_config = FROZEN
    type: Literal["text"] = Field("text", description="Words.")
    text: str = Field(description="The words.")


class ImageItem(BaseModel):
    model_config = FROZEN
    type: Literal["image"] = Field("image", description="A picture by address.")
    image_url: str = Field(description="https: or data: address of the picture.")


class LocalImageItem(BaseModel):
    model_config = FROZEN
    type: Literal["local_image"] = Field("local_image", description="A picture in a file.")
    path: Path = Field(description="The file, read when the input is consumed.")


def untag(value: Any) -> Any:
    """Turn adjacently tagged into plain. Anything else is left for the pydantic model to judge."""
    if not isinstance(value, dict):
        return value
    plain = dict(value)
    if isinstance(plain.get("data"), dict):
        plain = {**plain.pop("data"), **plain}
    if plain.get("type") == "localImage":
        plain["type"] = "local_image"
    return plain


InputItem = Annotated[
    Annotated[TextItem | ImageItem | LocalImageItem, Field(discriminator="type")],
    BeforeValidator(untag),
]


def text_of(items: tuple[InputItem, ...]) -> str:
    """The words of a message, for previews and for clients that know only text."""
    return "\n".join(item.text for item in items if isinstance(item, TextItem))


WORDS = 1 << 20  # characters; longer texts stand in the items, and need not be said twice


def words_of(items: tuple[InputItem, ...]) -> str:
    """The words of an event that has the items as well: of a very long text, its beginning."""
    text = text_of(items)
    return text if len(text) <= WORDS else f"{text[:WORDS]}[… the message has all {len(text)} characters …]"


FIRST_WORDS = 80  # characters; the room in a line about a message


def first_words(items: tuple[InputItem, ...]) -> str:
    """The beginning of a message in one line; of one without words, how many pictures it has."""
    words = " ".join(text_of(items)[: 4 * FIRST_WORDS].split())[:FIRST_WORDS]
    pictures = sum(1 for item in items if not isinstance(item, TextItem))
    return words or ("1 picture" if pictures == 1 else f"{pictures} pictures")


def says_nothing(items: tuple[InputItem, ...]) -> bool:
    """True if there is neither a word nor a picture."""
    return all(isinstance(item, TextItem) and not item.text.strip() for item in items)


def size_of(items: tuple[InputItem, ...]) -> int:
    """The size in characters, which is near enough to bytes for a bound."""
    return sum(len(str(value)) for item in items for _, value in item)
