"""Naming, listing, reading and keeping conversations, and the errors when that can't be done."""

import contextlib
import json
import os
import threading
from pathlib import Path

from supervisor.cli.kit.terminal import Paint
from supervisor.cli.search import HIT_LIST
from tests.supervisor.cli.place import Place, until


def stubborn(place: Place) -> str:
    """A conversation whose command ignores TERM."""
    ready = place.work / "ready"
    ready.unlink(missing_ok=True)
    command = f"run trap '' TERM; touch {ready}; sleep 30; sleep 30"
    conversation = place.new(command, "--sandbox", "danger-full-access", "--approval", "never")
    until(ready.exists)
    return conversation


def test_an_id_a_prefix_a_name_last_and_here_all_name_a_conversation(place: Place) -> None:
    there = place.work / "there"
    there.mkdir()
    first = place.new("say one", "--name", "named", "-C", str(there))
    place.at_rest(first)
    second = place.new("say two")
    place.at_rest(second)
    for reference, meant in ((first, first), (first[:6], first), ("named", first), ("@last", second)):
        assert place.said("inspect", reference, "--format", "{id}") == meant
    assert place.run("inspect", "@here", "--format", "{id}", cwd=there).stdout.strip() == first
    elsewhere = place.base / "elsewhere"
    elsewhere.mkdir()
    assert "no conversation in this directory" in place.run("inspect", "@here", cwd=elsewhere, code=5).stderr
    assert "write @last or @here" in place.run("inspect", "@nope", code=5).stderr


def test_a_history_is_summed_up_and_the_turn_is_watched(place: Place) -> None:
    one = place.new("say one", "--name", "long")
    place.at_rest(one)
    place.run("send", "long", "say two", "--wait")
    told = place.run("compact", "long").stdout + place.run("logs", "long").stdout
    assert "summed up: events 1 to " in told
    refused = place.run("compact", "long", code=6).stderr
    assert "there is nothing to sum up" in refused
    assert place.run("send", "long", "say three", "--wait").stdout.strip() == "three"
    assert place.run("compact", "long", "--detach").stdout.strip() == "summing up"
    place.at_rest("long")


def test_an_ambiguous_prefix_lists_the_candidates(place: Place) -> None:
    """Two imported conversations have ids that begin alike, as happens among many."""
    conversation = place.new("say x")
    place.at_rest(conversation)
    head, *events = [json.loads(line) for line in place.said("export", conversation).splitlines()]
    for ending in ("1", "2"):
        copy = f"feedbeef-0000-4000-8000-00000000000{ending}"
        head["head"].update(conversation=copy)
        text = "".join(json.dumps(line) + "\n" for line in (head, *events))
        assert place.run("import", "-", text=text).stdout.strip() == copy
    done = place.run("status", "feed", code=5)
    assert done.stderr.startswith("greenroom: 'feed' is ambiguous; write one of ")
    assert "feedbeef-0000-4000-8000-000000000001" in done.stderr


def test_ls_filters_sorts_and_fills_in(place: Place) -> None:
    for name in ("bb", "aa"):
        place.at_rest(place.new("say x", "--name", f"ls-{name}"))
    place.run("archive", "ls-bb")
    names = [row["name"] for row in place.json("ls", "-a", "--sort", "name", "--json", "name") if row["name"]]
    assert [name for name in names if name.startswith("ls-")] == ["ls-aa", "ls-bb"]
    assert place.said("ls", "--filter", "state=archived", "--format", "{name}\\t{state}") == "ls-bb\tarchived"
    assert place.said("ls", "--filter", "name=ls-aa", "-q") == place.said("inspect", "ls-aa", "--format", "{id}")
    assert "ls-bb" not in place.said("ls")
    place.run("archive", "--undo", "ls-bb")
    assert "ls-bb" in place.said("ls")


def test_ls_shows_a_screen_of_them_and_says_how_many_more(place: Place) -> None:
    for number in range(5):
        place.at_rest(place.new("say x", "--name", f"many-{number}"))
    total = len(place.json("ls", "--json", "id"))
    terminal = place.terminal("ls", columns=120, rows=6)
    terminal.end()
    title, *rows, more = terminal.screen.rstrip("\n").split("\n")
    assert title.startswith("ID")
    assert [row.split()[1] for row in rows] == ["many-4", "many-3", "many-2"]
    assert more == f"… and {total - 3} more (-n, --all)"
    done = place.run("ls", "-n", "2", "--format", "{name}")
    assert done.stdout == "many-4\nmany-3\n"
    assert done.stderr == f"… and {total - 2} more (-n, --all)\n"
    assert place.said("ls", "-n", "2", "--sort", "name", "--filter", "name=many-1", "-q").count("\n") == 0
    newest = place.json("ls", "--sort", "-created", "-n", "2", "--json", "name,created")
    assert [row["name"] for row in newest] == ["many-4", "many-3"]
    assert place.run("ls", "--all", "-q").stderr == ""
    assert "not a valid number of rows" in place.run("ls", "-n", "few", code=2).stderr


def test_status_shows_a_screen_of_them_and_counts_all(place: Place) -> None:
    for number in range(4):
        place.at_rest(place.new("say x", "--name", f"counted-{number}"))
    states = [row["state"] for row in place.json("ls", "-n", "1000", "--json", "state")]
    terminal = place.terminal("status", columns=120, rows=5)
    terminal.end()
    assert all(f"{states.count(state)} {state}" in terminal.screen for state in set(states))
    assert terminal.screen.rstrip("\n").endswith(f"… and {len(states) - 2} more (greenroom ls --all)")
    assert place.said("status", "counted-2", "counted-0", "--format", "{name}") == "counted-2\ncounted-0"


def test_search_prints_places_and_exits_with_1_where_there_are_none(place: Place) -> None:
    for number in ("one", "two"):
        place.at_rest(place.new(f"say the walrus {number}", "--name", f"sea-{number}"))
    hits = place.json("search", "walrus", "--json")
    assert {hit["name"] for hit in hits} == {"sea-one", "sea-two"}
    assert {hit["kind"] for hit in hits} >= {"user", "agent"}
    assert place.json("search", '"walrus two"', "--json", "name", "-n", "1") == [{"name": "sea-two"}]
    assert place.said("search", "the", "walrus", "--conversation", "sea-one", "-q") == hits[-1]["conversation"]
    best = place.said("search", "walr*", "--cwd", str(place.work), "--best", "--format", "{kind}")
    assert sorted(best.split()) == sorted(hit["kind"] for hit in hits)
    head, *rows = place.said("search", "walrus", "--since", "1h").splitlines()
    assert head.split("\t") == ["CONVERSATION", "SEQ", "AGE", "KIND", "TEXT"]
    assert len(rows) == len(hits)
    assert "there are more (-n)" in place.run("search", "walrus", "-n", "1").stderr
    nothing = place.run("search", "unheard", "of", code=1)
    assert (nothing.stdout, nothing.stderr) == ("", "greenroom: nothing found\n")
    assert place.run("search", "unheard", "--json", code=1).stdout == "[]\n"
    assert "there is no word to search for" in place.run("search", "--", "-?", code=2).stderr


def test_search_on_a_terminal_marks_the_words(place: Place) -> None:
    place.at_rest(place.new("say a \x1b[31mred\x1b[0m seal", "--name", "red"))
    rows = place.json("search", "seal", "--json")
    _, text = HIT_LIST.block(rows[0], 80, painted()) if HIT_LIST.block else ("", "")
    assert "\x1b[1;33mseal\x1b[0m" in text
    assert "\x1b[31m" not in text


def painted() -> Paint:
    paint = Paint()
    paint.on = True
    return paint


def test_logs_by_number_by_seq_by_time_raw_and_followed(place: Place) -> None:
    place.at_rest(place.new("run seq 20; then say end", "--name", "told", "--sandbox", "danger-full-access"))
    everything = [json.loads(line) for line in place.said("logs", "told", "--json").splitlines()]
    assert [line["seq"] for line in everything] == list(range(1, len(everything) + 1))
    last = [json.loads(line)["seq"] for line in place.said("logs", "told", "--json", "-n", "2").splitlines()]
    assert last == [len(everything) - 1, len(everything)]
    since = [json.loads(line)["seq"] for line in place.said("logs", "told", "--json", "--since", "3").splitlines()]
    assert since[0] == 4
    assert len(place.said("logs", "told", "--json", "--since", "1h").splitlines()) == len(everything)
    assert place.said("logs", "told", "--json", "--since", "2099-01-01") == ""
    newest = [
        json.loads(line)["seq"]
        for line in place.said("logs", "told", "--json", "--since", "1h", "-n", "2").splitlines()
    ]
    assert newest == last
    assert "… 10 more lines" in place.said("logs", "told")
    raw = place.said("logs", "told", "--raw")
    assert all(f"  {number}\n" in raw for number in range(1, 21))
    assert "token_count: " in raw
    follower = place.begin("logs", "told", "-f", "-n", "1")
    assert follower.stdout is not None
    follower.stdout.readline()
    place.run("send", "told", "say more of it", "--wait")
    assert follower.stdout.readline() == "> say more of it\n"
    follower.terminate()
    follower.communicate(timeout=20)


def test_events_of_all_conversations_come_once_and_in_order(place: Place) -> None:
    follower = place.begin("events", "--since", "1h", "--filter", "type=task_started,task_complete")
    names = [f"many-{number}" for number in range(6)]
    threads = [
        threading.Thread(target=place.begin("run", "-d", "--name", name, "say x").communicate) for name in names
    ]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join(20)
    ids = {place.said("inspect", name, "--format", "{id}") for name in names}
    seen: dict[str, list[str]] = {}
    assert follower.stdout is not None
    while not all(len(seen.get(one, [])) == 2 for one in ids):
        event = json.loads(follower.stdout.readline())
        seen.setdefault(event["conversation"], []).append(event["type"])
    assert all(seen[one] == ["task_started", "task_complete"] for one in ids)
    follower.terminate()
    follower.communicate(timeout=20)


def test_events_of_one_conversation_from_a_time_until_a_count(place: Place) -> None:
    place.at_rest(place.new("say x", "--name", "counted"))
    place.new("say y", "--name", "other")
    told = [json.loads(line) for line in place.said("events", "counted", "--since", "1h", "-n", "7").splitlines()]
    assert [event["seq"] for event in told] == [1, 2, 3, 4, 5, 6, 7]
    assert place.run("events", "counted", "-t", "100ms", code=124).stdout == ""
    assert "is not a filter" in place.run("events", "--filter", "seq=1", code=2).stderr


def test_send_says_what_became_of_it(place: Place) -> None:
    place.at_rest(place.new("say x", "--name", "talker"))
    assert place.said("send", "talker", "say one", "--key", "k") == "sent"
    assert place.said("send", "talker", "say one", "--key", "k") == "already sent with this key"
    place.at_rest("talker")
    place.run("send", "talker", "count 500")
    queued = place.said("send", "talker", "say next", "--if-busy", "enqueue")
    assert queued == "queued; 1 message waits"
    assert place.said("send", "talker", "say too") == "joins the running turn"
    told = place.said("interrupt", "talker")
    runs, drops = "`greenroom queue talker go` lets them run", "`greenroom queue talker drop --all` drops them"
    assert told == f'talker: interrupted; 2 messages wait: "say too", "say next"; {runs}, {drops}'
    held = f'2 messages wait: "say too", "say next"; {runs}, {drops}'
    assert place.said("send", "talker", "count 500") == f"sent; {held}"
    assert place.said("send", "talker", "count 500", "--if-busy", "interrupt") == "replaces the running turn"
    assert "`greenroom queue talker go` lets them run" in place.said(
        "send", "talker", "say more", "--if-busy", "enqueue"
    )
    place.run("interrupt", "talker")
    assert place.run("send", "talker", "-", "--wait", text="say from a pipe").stdout == "from a pipe\n"


def test_a_correction_after_an_interrupt_is_answered_alone_and_the_rest_when_it_may_go(place: Place) -> None:
    place.new("count 500", "--name", "corrected")
    place.run("send", "corrected", "say this joins")
    place.run("send", "corrected", "say that", "--if-busy", "enqueue")
    place.run("interrupt", "corrected")
    assert place.run("send", "corrected", "say no, so", "--wait").stdout == "no, so\n"
    assert place.said("inspect", "corrected", "--format", "{state} {queued} {paused}") == "idle 2 true"
    assert [one["preview"] for one in place.json("queue", "corrected", "--json")] == ["say this joins", "say that"]
    place.run("queue", "corrected", "go")
    place.at_rest("corrected")
    said = [json.loads(line) for line in place.said("logs", "corrected", "--json").splitlines()]
    words = [one["message"] for one in said if one["type"] == "user_message" and one["kind"] == "plain"]
    assert words == ["count 500", "say no, so", "say this joins", "say that"]


def test_nothing_starts_after_an_interrupt_until_somebody_sends_or_clears(place: Place) -> None:
    place.new("count 500", "--name", "halted")
    for word in ("say one", "say two"):
        place.run("send", "halted", word, "--if-busy", "enqueue")
    place.run("send", "halted", "count 400", "--if-busy", "interrupt")
    place.run("interrupt", "halted")
    before = place.json("inspect", "halted")
    assert (before["state"], before["paused"]) == ("idle", True)
    assert " messages, held until `greenroom queue" in place.said("status", "halted")
    assert '"say one", "say two"; `greenroom queue halted go`' in place.said("interrupt", "halted")
    place.run("events", "halted", "-t", "1s", code=124)  # nothing of it comes by itself
    assert place.json("inspect", "halted")["seq"] == before["seq"]
    assert place.json("interrupt", "halted", "--clear", "--json")["queued"] == 0
    assert place.said("interrupt", "halted", "--clear") == "halted: nothing was running; its queue is empty now"
    place.run("send", "halted", "say alone", "--wait")
    place.at_rest("halted")
    said = [json.loads(line) for line in place.said("logs", "halted", "--json").splitlines()]
    words = {one["message"] for one in said if one["type"] == "user_message"}
    assert "say alone" in words
    assert not words & {"say one", "say two"}


def test_nothing_of_an_interrupted_turn_is_left_or_comes_back(place: Place) -> None:
    """Neither a command in the background nor the next step of the model is left."""
    mark = "4217.5"  # seconds, that no other command of this machine sleeps
    command = f"run (setsid sleep {mark} & ) ; sleep {mark} & wait ; then say not this"
    conversation = place.new(command, "--sandbox", "danger-full-access", "--approval", "never")
    until(lambda: bool(_sleeping(mark)))
    place.run("interrupt", conversation)
    assert not _sleeping(mark)
    before = place.json("inspect", conversation)
    place.run("events", conversation, "-t", "1s", code=124)
    assert place.json("inspect", conversation) == before


def _sleeping(mark: str) -> list[Path]:
    """The processes that sleep for exactly this long."""
    found = []
    for process in Path("/proc").glob("[0-9]*"):
        with contextlib.suppress(OSError):
            if (process / "cmdline").read_bytes() == f"sleep\0{mark}\0".encode():
                found.append(process)
    return found


def test_input_during_a_stop_is_not_said_to_join_what_is_being_stopped(place: Place) -> None:
    conversation = stubborn(place)
    place.run("interrupt", conversation, "--wait", "10ms", code=124)
    assert place.said("send", conversation, "say after") == "queued until the turn that is being stopped has ended"
    place.run("interrupt", conversation, "--kill")
    place.at_rest(conversation)


def test_interrupt_all_and_interrupt_what_does_not_run(place: Place) -> None:
    names = ("all-1", "all-2")
    for name in names:
        place.new("count 500", "--name", name)
    assert place.said("interrupt", "--all").count(": interrupted") == len(names)
    assert place.said("interrupt", *names).count("nothing was running") == len(names)
    assert place.said("interrupt", "--all") == "nothing is running"


def test_a_command_that_does_not_listen_is_killed_by_the_second_interrupt(place: Place) -> None:
    conversation = stubborn(place)
    done = place.run("interrupt", conversation, "--wait", "10ms", code=124)
    assert "run the same command again to kill its commands at once" in done.stderr
    place.run("interrupt", conversation)
    place.run("wait", conversation, code=11)


def test_wait_for_idle_and_for_several(place: Place) -> None:
    place.new("count 20", "--name", "w1")
    place.new("count 500", "--name", "w2")
    assert place.said("wait", "w1", "--for", "idle") == "w1: idle"
    place.run("interrupt", "w2")
    assert place.run("wait", "w1", "w2", code=75).stdout == "w1: completed\nw2: interrupted\n"


def test_wait_for_an_approval_ends_with_a_turn_that_asks_none(place: Place) -> None:
    conversation = place.new("count 60", "--name", "asks-none")
    assert (
        place.said("wait", conversation, "--for", "approval", code=1)
        == f"{conversation}: completed, without asking for an approval"
    )
    told = json.loads(place.said("wait", "asks-none", "--for", "approval", "--json", code=1))
    assert told == {"conversation": conversation, "reached": "idle", "ending": "completed"}


def test_interrupt_says_in_json_which_conversation_it_was(place: Place) -> None:
    conversation = place.new("count 500", "--name", "by-name")
    assert place.json("interrupt", "by-name", "--json")["conversation"] == conversation


def test_fork_export_remove_import_rename(place: Place) -> None:
    original = place.new("say x", "--name", "kept")
    place.at_rest(original)
    fork = place.said("fork", "kept", "--name", "copy")
    assert "lies inside a turn" in place.run("fork", "kept", "--at", "3", code=6).stderr
    file = place.work / "kept.jsonl"
    place.run("export", "kept", str(file))
    assert file.stat().st_mode & 0o077 == 0
    assert "exists already" in place.run("import", str(file), code=2).stderr
    assert "use --force" in place.run("rm", "kept", code=2).stderr
    place.run("rm", "-f", "kept")
    assert "no conversation" in place.run("status", original, code=5).stderr
    assert place.said("import", str(file)) == original
    place.run("send", original, "say still here", "--wait")
    assert "another conversation is called 'copy'" in place.run("rename", original, "copy", code=6).stderr
    place.run("rename", fork, "")
    assert place.said("inspect", fork, "--format", "[{name}]") == "[]"
    assert "unknown field 'nonsense'" in place.run("inspect", fork, "--format", "{nonsense}", code=2).stderr
    assert "can't be read" in place.run("import", "nowhere.jsonl", code=1).stderr


def test_a_history_larger_than_a_message_is_exported_and_imported(place: Place) -> None:
    original = place.new("say x", "--name", "large")
    place.at_rest(original)
    head, *lines = place.said("export", "large").splitlines()
    told = json.loads(head)
    last = told["head"]["last_seq"]
    told["head"]["last_seq"] += 18
    for seq in range(last + 1, last + 19):
        body = {"type": "background_event", "message": "\u2028" + "ü" * (1 << 20)}
        event = {"seq": seq, "ts": 1.0, "turn": None, "type": body["type"], "body": body}
        lines.append(json.dumps(event, ensure_ascii=False))
    file, back = place.work / "large.jsonl", place.work / "back.jsonl"
    file.write_text("\n".join((json.dumps(told), *lines)) + "\n", encoding="utf-8")
    place.run("rm", "-f", "large")
    assert place.said("import", str(file)) == original
    assert f"{len(lines) + 1} lines" in place.run("export", "large", str(back)).stderr
    whole = back.read_text(encoding="utf-8").split("\n")
    # The first says that it is a copy, and its directories are those of today.
    assert [json.loads(line) for line in whole[2:-1]] == [json.loads(line) for line in lines[1:]]
    place.run("rm", "-f", "large")


def test_rm_asks_on_a_terminal(place: Place) -> None:
    place.at_rest(place.new("say x", "--name", "doomed"))
    terminal = place.terminal("rm", "doomed")
    terminal.expect("Delete doomed for good? [y/N]")
    terminal.send("n\n")
    assert terminal.end() == 1
    terminal = place.terminal("rm", "doomed")
    terminal.expect("[y/N]")
    terminal.send("y\n")
    assert terminal.end() == 0
    place.run("status", "doomed", code=5)


def test_rm_shows_what_it_would_delete_and_deletes_that(place: Place) -> None:
    first = place.new("say the older one")
    place.at_rest(first)
    second = place.new("say the newer one")
    place.at_rest(second)
    terminal = place.terminal("rm", "@last", "@here")
    terminal.expect(f"{second[:8]} (say-the-newer-one): say the newer one")
    terminal.expect(f"Delete {second[:8]} for good? [y/N]")
    place.run("send", first, "say used last", "--wait")
    terminal.send("y\n")
    assert terminal.end() == 0
    place.run("status", second, code=5)
    assert place.said("rm", "-f", "@last", "@here") == f"{first[:8]}: deleted"


def test_a_first_prompt_that_is_refused_leaves_no_conversation(place: Place) -> None:
    before = place.said("ls", "-q")
    assert "too long" in place.run("run", "-d", "-", text="x" * (17 << 20), code=None).stderr
    assert "too long" in place.run("run", "-", text="x" * (17 << 20), code=None).stderr
    assert "is not UTF-8" in place.run("run", "say \udcff", code=2).stderr
    assert "is not a valid name" in place.run("run", "--name", "a\nb", "say x", code=2).stderr
    assert place.said("ls", "-q") == before


def test_an_empty_reference_names_nothing(place: Place) -> None:
    assert "no conversation is named" in place.run("send", "", "say x", code=2).stderr


def test_approve_by_prefix_by_conversation_and_for_the_conversation(place: Place) -> None:
    conversation = place.asking()
    (approval,) = place.json("approvals", conversation, "--json")
    assert approval["what"] == "bash -lc 'touch asked'"
    assert approval["asked"] > 1_500_000_000
    assert "approved" in place.said("approve", approval["id"][:6], "--for", "conversation")
    place.at_rest(conversation)
    place.run("send", conversation, "ask touch asked; then say again", "--wait")  # not asked this time
    assert "no open approval 'zz'" in place.run("approve", "zz", code=5).stderr
    other = place.asking()
    assert place.json("deny", other, "--json")["decision"] == "denied"


def test_a_prompt_without_quotes_is_told_to_use_them(place: Place) -> None:
    for words in (("run", "why", "does", "it", "fail?"), ("send", "@last", "run", "the", "tests")):
        told = place.run(*words, code=2).stderr
        assert "too many words: " in told
        assert "put a prompt of several words in quotes" in told
        assert len(told.splitlines()) == 1


def test_interrupt_wants_names_or_all_and_not_both(place: Place) -> None:
    assert (
        place.run("interrupt", code=2).stderr
        == "greenroom: no conversation is named; name a conversation, or use --all\n"
    )
    told = place.run("interrupt", "here", "--all", code=2).stderr
    assert told == "greenroom: --all and names can't be combined; leave one of them out\n"


def test_a_mistyped_verb_is_guessed(place: Place) -> None:
    assert "did you mean interrupt" in place.run("interupt", code=2).stderr
    assert "did you mean exit-codes" in place.run("help", "exitcodes", code=2).stderr


def test_inspect_and_logs_page_on_a_terminal(place: Place) -> None:
    place.at_rest(place.new("say x", "--name", "paged"))
    place.env["PAGER"] = "sed s/^/paged:/"
    try:
        terminal = place.terminal("inspect", "paged", rows=10)
        terminal.end()
    finally:
        del place.env["PAGER"]
    assert "paged:{" in terminal.screen


def test_files_of_commands_have_the_umask_of_whoever_created_or_attached_last(place: Place) -> None:
    """The daemon itself has a stricter umask."""
    before = os.umask(0o002)
    try:
        conversation = place.new("run mkdir shared", "--sandbox", "danger-full-access", "--approval", "never")
    finally:
        os.umask(before)
    place.at_rest(conversation)
    assert (place.work / "shared").stat().st_mode & 0o777 == 0o775


def test_a_directory_that_a_person_names_and_that_is_not_there_is_refused_before_anything_is_made(
    place: Place,
) -> None:
    before = place.said("ls", "--all", "--json")
    nowhere = str(place.base / "nowhere")
    said = place.run("run", "-C", nowhere, "say x", code=2).stderr
    assert said == f"greenroom: there is no directory {nowhere!r}; -C takes a directory that exists\n"
    assert place.said("ls", "--all", "--json") == before
