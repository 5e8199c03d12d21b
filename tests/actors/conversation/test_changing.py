"""Settings that change: the turn they count for, and what a quicker client or a full disk makes of it."""

from actors.messages.conversation import ChangeSettings, Send
from actors.messages.orders import RunAgent, UseSettings
from actors.vocabulary import events as ev
from actors.vocabulary.answers import ChangedSettings
from actors.vocabulary.errors import SettingsMoved, StorageFull
from actors.vocabulary.setting_changes import INSIDE_SANDBOX, SETTING_READERS, changes, fields_of
from actors.vocabulary.settings import (
    BusyPolicy,
    DangerFullAccess,
    Decision,
    ReadOnly,
    SettingChange,
    Settings,
    WorkspaceWrite,
)
from tests.actors.conversation import words as w
from tests.support.core_driver import SETTINGS, Core, caller, said

ANN, BEN = caller("ann"), caller("ben")
OTHER = SETTINGS.model_copy(update={"model": "model-b", "sandbox": DangerFullAccess()})


def test_the_running_turn_is_told_when_the_change_is_on_disk() -> None:
    core = Core(commits=False)
    core.send("work")
    core.store()
    core.say(ChangeSettings(OTHER, ("model",), by="ben"), BEN)
    assert core.orders_of(UseSettings) == []
    assert core.answers(BEN) == []
    core.store()
    assert core.orders_of(UseSettings) == [UseSettings(core.turn, SETTINGS.model_copy(update={"model": "model-b"}))]
    answer = core.answer(BEN)
    assert isinstance(answer, ChangedSettings)
    assert (answer.turn, answer.changed) == (
        core.turn,
        (SettingChange(name="model", before=SETTINGS.model, after="model-b"),),
    )
    (event,) = core.said_of(ev.SettingsChanged)
    assert (event.by, event.changed) == ("ben", answer.changed)


def test_a_change_to_the_present_value_makes_no_event_and_no_order() -> None:
    core = Core()
    core.send("work")
    core.say(ChangeSettings(SETTINGS, ("model",), name=None), BEN)
    assert core.said_of(ev.SettingsChanged) == []
    assert core.orders_of(UseSettings) == []
    assert core.answer(BEN) == ChangedSettings(SETTINGS, None, (), core.turn)


def test_a_name_and_settings_change_together() -> None:
    core = Core()
    core.say(ChangeSettings(OTHER, ("model",), name="work", by="ben"), BEN)
    assert core.types[-2:] == ["conversation_renamed", "settings_changed"]
    assert core.said_of(ev.ConversationRenamed)[0].by == "ben"


def test_a_change_that_was_worked_out_from_older_settings_is_refused_whole() -> None:
    core = Core()
    core.say(ChangeSettings(OTHER, ("model",), seen=SETTINGS), ANN)
    core.say(ChangeSettings(OTHER, ("sandbox",), seen=SETTINGS, name="work"), BEN)
    assert isinstance(core.answer(BEN), SettingsMoved)
    assert core.state.facts.name is None
    assert core.state.facts.settings.sandbox == SETTINGS.sandbox


def test_a_turn_with_settings_of_its_own_takes_the_changed_ones_and_keeps_the_others() -> None:
    core = Core()
    core.send("work", settings=OTHER)
    core.say(ChangeSettings(SETTINGS, ("sandbox",)), BEN)
    (order,) = core.orders_of(UseSettings)
    assert (order.settings.model, order.settings.sandbox) == ("model-b", SETTINGS.sandbox)
    (event,) = core.said_of(ev.SettingsChanged)
    assert [one.name for one in event.changed] == ["sandbox"], "the conversation had it so, the turn had not"


def test_a_message_that_waits_with_a_model_of_its_own_runs_under_the_policy_that_was_set_meanwhile() -> None:
    core = Core()
    core.say(ChangeSettings(OTHER, ("sandbox",)))
    core.send("work")
    with_model = core.state.facts.settings.model_copy(update={"model": "model-c"})
    core.say(Send(said("later"), BusyPolicy.ENQUEUE, with_model, own=("model",)))
    core.say(ChangeSettings(SETTINGS, ("sandbox",)))
    core.end()
    settings = core.runs[-1].settings
    assert (settings.model, settings.sandbox) == ("model-c", ReadOnly())


def test_a_turn_on_paper_goes_on_with_the_changed_settings() -> None:
    core = Core()
    core.send("work")
    core.output(w.call(), w.ask())
    core.crash()
    core.say(ChangeSettings(OTHER, ("model",)))
    core.answer_with(Decision.APPROVED)
    last = core.runs[-1]
    assert isinstance(last, RunAgent)
    assert (last.resume, last.settings.model) == (True, "model-b")


def test_a_change_that_the_disk_refuses_never_was() -> None:
    core = Core()
    core.send("work")
    core.disk.refuses = StorageFull("full")
    core.say(ChangeSettings(OTHER, ("model",)), BEN)
    assert isinstance(core.answer(BEN), StorageFull)
    assert core.orders_of(UseSettings) == []
    assert core.state.facts.settings == SETTINGS


def test_every_setting_but_the_pins_is_told_when_it_changes() -> None:
    fields = {name for name in Settings.model_fields if name != "roots"}
    assert fields_of(SettingChange(name=name) for name in SETTING_READERS) == fields
    assert set(INSIDE_SANDBOX) == set(WorkspaceWrite.model_fields) - {"mode"}


def test_a_change_is_told_in_words_and_a_long_one_is_cut() -> None:
    before = SETTINGS.model_copy(update={"base_instructions": None})
    after = before.model_copy(update={"base_instructions": "x\n" * 500})
    (told,) = changes(before, after)
    assert (told.before, len(told.after)) == ("", 200)
