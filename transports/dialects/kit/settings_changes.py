"""A change of settings, computed from the present ones, and computed again if another client was quicker."""

from msgspec import UNSET, UnsetType

from actors.messages.conversation import ChangeSettings, Inspect
from actors.vocabulary.answers import ChangedSettings
from actors.vocabulary.errors import SettingsMoved
from actors.vocabulary.ids import ConversationId
from transports.dialects.kit.script import Script, ask, command
from transports.supervisor_requests import AlterSettings, NewValues, Person

TRIES = 5  # attempts of a client that others overtake; then it gets the refusal


def change_settings(
    conversation: ConversationId,
    values: NewValues,
    person: Person | None,
    by: str,
    name: str | UnsetType | None = UNSET,
) -> Script[ChangedSettings]:
    for attempt in range(1, TRIES + 1):
        current = (yield from command(conversation, Inspect())).settings
        made = yield from ask(AlterSettings(current, values, person))
        # No fields would mean all of them. `model` stands for no change: its value is the present one.
        change = ChangeSettings(made.settings, made.fields or ("model",), current, name, by)
        try:
            return (yield from command(conversation, change))
        except SettingsMoved:
            if attempt == TRIES:
                raise
    raise AssertionError("the last try returns or raises")
