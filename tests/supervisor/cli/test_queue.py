"""`greenroom queue`: the messages that wait are listed, edited, moved, dropped and let go on."""

from tests.supervisor.cli.place import Place


def held(place: Place, name: str, *words: str) -> list[str]:
    """Make a conversation whose interrupt holds these messages; their ids."""
    place.new("count 500", "--name", name)
    for one in words:
        place.run("send", name, one, "--if-busy", "enqueue")
    place.run("interrupt", name)
    return place.said("queue", name, "-q").split()


def words(place: Place, name: str) -> list[str]:
    return [one["preview"] for one in place.json("queue", name, "--json")]


def test_waiting_messages_are_listed_with_id_policy_and_sender(place: Place) -> None:
    ids = held(place, "listed", "say one", "say two")
    title, first, _ = place.said("queue", "listed").splitlines()
    assert title.split("\t") == ["ID", "WAITS", "RUNS", "BY", "MESSAGE"]
    short, _, runs, by, text = first.split("\t")
    assert ids[0].startswith(short)
    assert (runs, text) == ("own turn", "say one")
    assert by.startswith("greenroom send")
    assert "idle, 2 queued" in place.said("ls", "--filter", "name=listed")
    assert place.json("ls", "--filter", "name=listed", "--json", "queued") == [{"queued": 2}]


def test_messages_are_edited_and_moved_and_run_so_when_they_may_go(place: Place) -> None:
    one, two = held(place, "edited", "say one", "say two")
    assert place.said("queue", "edited", "edit", one[:8], "say eins") == "changed"
    assert place.said("queue", "edited", "move", two[:8], "--first") == "moved"
    assert words(place, "edited") == ["say two", "say eins"]
    place.run("queue", "edited", "move", one, "--before", two)
    assert words(place, "edited") == ["say eins", "say two"]
    assert place.said("queue", "edited", "go") == "2 messages on the way"
    place.at_rest("edited")
    assert words(place, "edited") == []
    history = place.said("logs", "edited")
    assert history.index("> say eins") < history.index("> say two")
    assert "> say one" not in history
    assert place.said("queue", "edited", "go") == "nothing waits"


def test_one_message_or_all_are_dropped(place: Place) -> None:
    one, *_ = held(place, "dropped", "say one", "say two", "say three")
    assert place.said("queue", "dropped", "drop", one, "--reason", "later") == "1 message dropped"
    assert words(place, "dropped") == ["say two", "say three"]
    assert place.said("queue", "dropped", "drop", "--all") == "2 messages dropped"
    assert words(place, "dropped") == []
    assert "a waiting message was withdrawn by greenroom queue" in place.said("logs", "dropped")


def test_wrong_words_are_answered_with_the_right_ones(place: Place) -> None:
    held(place, "wrong", "say one")
    assert "lists the messages" in place.run("queue", "wrong", "drop", code=2).stderr
    assert "--first, --last" in place.run("queue", "wrong", "move", "x", code=2).stderr
    assert "new words" in place.run("queue", "wrong", "edit", "x", code=2).stderr
    assert "may have been taken" in place.run("queue", "wrong", "drop", "x", code=2).stderr


def test_ids_of_waiting_messages_are_completed(place: Place) -> None:
    (one,) = held(place, "offered", "say one")
    assert place.said("__complete", "queue", "offered", "drop", "") == f"{one}\tsay one"
