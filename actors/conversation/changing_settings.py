"""Changes of the settings of a conversation and of its running turn. Its agent is told when they are on disk."""

from msgspec import UNSET

from actors.conversation.draft import Draft
from actors.conversation.lifecycle import refuse_before_begin
from actors.messages.conversation import ChangeSettings
from actors.messages.orders import UseSettings
from actors.vocabulary import events as ev
from actors.vocabulary.answers import ChangedSettings
from actors.vocabulary.errors import SettingsMoved
from actors.vocabulary.setting_changes import changes
from actors.vocabulary.settings import SettingChange, Settings


def change_settings(draft: Draft, command: ChangeSettings) -> None:
    """Change all the named settings, or none. A value that is set already makes no event."""
    if refuse_before_begin(draft):
        return
    facts = draft.facts
    if command.seen is not None and command.seen != facts.settings:
        draft.reply_now(SettingsMoved("the settings were changed by another client meanwhile; try again"))
        return
    if command.name is not UNSET and command.name != facts.name:
        draft.emit(ev.ConversationRenamed(name=command.name, by=command.by))
    changed = _apply_changes(draft, command)
    turn = facts.turn.id if facts.turn else None
    draft.reply_when_stored(ChangedSettings(draft.facts.settings, draft.facts.name, changed, turn))


def _apply_changes(draft: Draft, command: ChangeSettings) -> tuple[SettingChange, ...]:
    facts, run = draft.facts, draft.state.run
    settings = _settings_after(facts.settings, command)
    found = {change.name: change for change in changes(facts.settings, settings)}
    own = facts.turn.settings if facts.turn else None
    if own is not None:  # a turn with settings of its own takes the changed ones, too
        found |= {change.name: change for change in changes(own, _settings_after(own, command))}
    if not found:
        return ()
    changed = tuple(found.values())
    draft.emit(ev.SettingsChanged(settings=settings, by=command.by, changed=changed))
    if facts.turn is not None and run is not None:
        turn = draft.facts.turn
        draft.when_stored(UseSettings(facts.turn.id, (turn and turn.settings) or settings))
    return changed


def _settings_after(current: Settings, command: ChangeSettings) -> Settings:
    if command.fields:
        return current.with_fields_of(command.settings, command.fields)
    return command.settings.with_known_roots(current)
