"""`top` in a real terminal: what it shows, and its keys."""

from tests.supervisor.cli.place import Place, until

HELP = "i interrupt  a answer  enter attach  q quit"


def test_top_shows_the_conversations_and_gives_the_screen_back(place: Place) -> None:
    conversation = place.asking("--name", "asks")
    terminal = place.terminal("top", columns=100)
    terminal.expect("waiting")
    terminal.expect(HELP)
    assert "1 approval," in terminal.screen
    assert f"> {conversation[:8]}  asks  waiting" in terminal.screen
    terminal.send("q")
    assert terminal.end() == 0
    assert terminal.written.endswith("\x1b[?25h\x1b[?1049l")
    place.run("interrupt", conversation)


def test_its_keys_approve_interrupt_and_attach(place: Place) -> None:
    asking = place.asking("--name", "keys")
    terminal = place.terminal("top", columns=100)
    terminal.expect(HELP)
    terminal.send("a")
    terminal.expect("touch asked")
    terminal.send("yes\r")
    terminal.expect("answered: approved")
    place.at_rest(asking)
    place.run("send", asking, "count 500")
    terminal.expect(", 1 turn,")
    terminal.expect(HELP)
    terminal.send("\r")
    terminal.expect("Ctrl-C interrupts")  # attached, on the ordinary screen
    terminal.send("\x04")
    terminal.expect(HELP)
    terminal.send("i")
    terminal.expect("interrupt the turn of")
    terminal.send("i\r")
    terminal.expect("nothing was answered")
    terminal.send("i")
    terminal.expect("interrupt the turn of")
    terminal.send("y\r")
    terminal.expect("interrupt sent")
    until(lambda: place.said("inspect", asking, "--format", "{state}") == "idle")
    terminal.resize(60, 10)
    terminal.send("q")
    assert terminal.end() == 0


def test_the_key_that_asks_does_not_answer_and_what_is_asked_is_shown_whole(place: Place) -> None:
    asking = place.new(f"ask echo {'x' * 120}; rm -rf nothing", "--name", "twice")
    place.run("wait", asking, "--for", "approval", "-t", "15")
    terminal = place.terminal("top", columns=70, rows=12)
    terminal.expect(HELP)
    terminal.send("a")
    terminal.expect("rm -rf nothing")
    terminal.send("a")
    terminal.send("\x1b[200~yes\r\x1b[201~")
    terminal.expect("a paste does nothing here")
    terminal.resize(70, 3)
    terminal.send("a")
    terminal.expect("too long for this window")
    terminal.resize(70, 12)
    terminal.send("a")
    terminal.expect("yes, no, always, abort + Enter")
    assert place.said("inspect", asking, "--format", "{state}") == "waiting"
    place.run("deny", "twice", "--abort")
    terminal.send("yes\r")
    terminal.expect("already abort by greenroom deny")
    terminal.send("q")
    assert terminal.end() == 0


def test_no_line_of_it_is_longer_than_the_window(place: Place) -> None:
    conversation = place.asking("--name", "a-name-that-is-long-enough-for-two")
    terminal = place.terminal("top", columns=40)
    terminal.expect("i interrupt")
    assert "> a-name-that-is-long-enough-for-two" in terminal.screen
    assert "\x1b[H" in terminal.written
    terminal.send("q")
    assert terminal.end() == 0
    assert max(len(line) for line in terminal.screen.splitlines()) <= 40
    place.run("interrupt", conversation)


def test_in_a_pipe_it_is_printed_once(place: Place) -> None:
    place.new("say x")
    lines = place.run("top").stdout.splitlines()
    assert lines[0].startswith("greenroom ")
    assert lines[1].split("\t")[:3] == ["ID", "NAME", "STATE"]


def test_memory_of_a_running_command_is_that_of_its_processes(place: Place) -> None:
    conversation = place.new("run sleep 20", "--sandbox", "danger-full-access")
    rows = {}

    def there() -> bool:
        head, *table = [line.split("\t") for line in place.run("top").stdout.splitlines()[1:]]
        rows.update({row[0]: row[head.index("MEMORY")] for row in table})
        return rows.get(conversation[:8], "-") != "-"

    until(there)
    assert rows[conversation[:8]].endswith("iB")
    place.run("interrupt", conversation, "--kill")
