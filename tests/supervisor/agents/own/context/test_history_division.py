"""A history is parted between steps, never inside one; words of people come first, and all of it fits."""

from hypothesis import given
from hypothesis import strategies as st
from msgspec.structs import replace

from actors.vocabulary import events as ev
from actors.vocabulary.ids import CallId, ItemId
from supervisor.agents.gauge import TOKENS_PER_BYTE, Gauge
from supervisor.agents.history_outline import HistoryOutline, HistoryStep, Words
from supervisor.agents.own.context.history_division import FULL, Division, Measure, divide_history
from supervisor.agents.own.transcript.wording import OPENING, join_files, replacement_text

MEASURE = Measure(limit=1_000, overhead=100, rate=0.25)


def user(text: str) -> ev.UserMessage:
    return ev.UserMessage(message=text)


def called(name: str) -> ev.ToolCall:
    return ev.ToolCall(call_id=CallId(name), item_id=ItemId(name), name="shell", arguments="{}")


def output(name: str) -> ev.ToolOutput:
    return ev.ToolOutput(call_id=CallId(name), item_id=ItemId(name), output="x")


def said(text: str) -> ev.AgentMessage:
    return ev.AgentMessage(message=text)


def story_of(*events: ev.DurableEvent) -> HistoryOutline:
    story = HistoryOutline()
    for seq, event in enumerate(events, 1):
        story.take(seq, event)
    return story


def step(weight: int, *words: str, answered: bool = True, seq: int = 1) -> HistoryStep:
    return HistoryStep(seq, seq, weight, 1, [Words(seq, one) for one in words], answered)


def test_a_file_whose_name_has_several_lines_begins_no_part_of_its_own() -> None:
    base = ev.Compacted(
        why="asked", summary="notes", first_seq=1, last_seq=2, files=("a\n\nThe user's messages", "b")
    )
    assert replacement_text(base, ()).endswith("Files read or changed last: a\ufffd\ufffdThe user's messages, b")


def test_a_turn_a_response_and_what_is_said_meanwhile_begin_a_step() -> None:
    story = story_of(
        *(ev.TaskStarted(), user("a"), said("let me see"), called("1"), called("2"), output("2"), output("1")),
        *(said("so"), called("3"), output("3"), user("steered"), said("done"), ev.TaskComplete(), ev.TaskStarted()),
        user("b"),
    )
    assert [(one.first_seq, one.answered) for one in story.steps] == [
        (1, True),
        (8, True),
        (11, True),
        (14, False),
    ]
    assert [word.text for one in story.steps for word in one.words] == ["a", "steered", "b"]


@given(st.lists(st.sampled_from(["start", "user", "say", "call", "output"]), max_size=40))
def test_no_step_begins_between_a_call_and_its_output(kinds: list[str]) -> None:
    open_calls: list[str] = []
    story, made = HistoryOutline(), 0
    for seq, kind in enumerate(kinds, 1):
        begun = len(story.steps)
        before = bool(open_calls)
        match kind:
            case "start" if not open_calls:
                story.take(seq, ev.TaskStarted())
            case "user":
                story.take(seq, user(f"{seq}"))
            case "say":
                story.take(seq, said("x"))
            case "call":
                made += 1
                open_calls.append(f"c{made}")
                story.take(seq, called(f"c{made}"))
            case "output" if open_calls:
                story.take(seq, output(open_calls.pop(0)))
        assert not before or len(story.steps) == begun


def test_the_plan_and_the_files_that_were_open_last_are_found() -> None:
    read = ev.ToolCall(call_id=CallId("r"), item_id=ItemId("r"), name="read_file", arguments='{"path":"a.py"}')
    patch = ev.WorkBegan(call_id=CallId("p"), subject=ev.FilesSubject(changes={"/w/b.py": "delete"}))
    plans = [ev.PlanUpdate(plan=(ev.PlanStep(step=name, status="pending"),)) for name in ("old", "new")]
    hints = (ev.CommandHint(cmd="cat c", purpose="reads", name="c"), ev.CommandHint(cmd="ls d", path="d"))
    shown = ev.WorkBegan(call_id=CallId("s"), subject=ev.CommandSubject(command=("cat", "c"), hints=hints))
    story = story_of(ev.TaskStarted(), read, patch, shown, *plans, read)
    assert story.files == ["/w/b.py", "c", "a.py"]
    assert [one.step for one in story.plan] == ["new"]
    assert join_files(["a", "b"], ["a", "c"], 2) == ("a", "c")


def agents_work(*, ended: bool = True) -> ev.WorkBegan | ev.WorkEnded:
    subject = ev.CommandSubject(command=("npm", "i"), changes={"/w/lock": "delete"})
    call = ev.AgentCall(title="Install", sort="execute")
    if not ended:
        return ev.WorkBegan(call_id=CallId("w"), subject=subject, agent_call=call)
    return ev.WorkEnded(call_id=CallId("w"), kind="command", subject=subject, agent_call=call, status="completed")


def test_the_work_of_another_agent_is_known_when_it_ends_and_a_step_may_follow_it() -> None:
    begun = story_of(ev.TaskStarted(), agents_work(ended=False))
    assert (begun.files, begun.steps[0].last_seq, begun.steps[0].answered) == ([], 1, False)
    ended = story_of(ev.TaskStarted(), agents_work(ended=False), agents_work(), said("so"))
    assert ended.files == ["/w/lock"]
    assert [(one.first_seq, one.last_seq, one.items) for one in ended.steps] == [(1, 3, 1), (4, 4, 1)]


def test_a_search_belongs_to_the_step_that_follows_it() -> None:
    subject = ev.SearchSubject(query="q", kept="[]")
    search = ev.WorkEnded(call_id=CallId("s"), kind="search", subject=subject, status="completed")
    story = story_of(ev.TaskStarted(), called("1"), output("1"), search, said("so"))
    assert [(one.first_seq, one.last_seq) for one in story.steps] == [(1, 3), (5, 5)]


def test_the_last_steps_stay_as_long_as_they_are_short_enough() -> None:
    steps = [step(400, f"w{seq}", seq=seq) for seq in range(1, 11)]
    assert divide_history(steps, [], MEASURE, "limit") == Division(7)


def test_the_message_to_be_answered_stays_at_any_length() -> None:
    steps = [step(400, seq=1), step(90_000, "long", answered=False, seq=2)]
    assert divide_history(steps, [], MEASURE, "limit").summed == 1


def test_an_unanswered_message_of_an_earlier_turn_is_summed_up_like_the_rest() -> None:
    steps = [step(9_000, "lost", answered=False, seq=1), step(40, "now", answered=False, seq=2)]
    assert divide_history(steps, [], MEASURE, "refused").summed == 1


def test_a_request_for_too_much_room_gets_all_there_is() -> None:
    steps = [step(10, seq=1), step(10, seq=2), step(10, seq=3)]
    assert divide_history(steps, [], MEASURE, "limit").summed == 0
    assert divide_history(steps, [], MEASURE, "asked").summed == 2


def test_no_words_give_way_where_nobody_knows_what_fits() -> None:
    steps, words = [step(10, seq=1), step(10, seq=2)], [Words(1, "x" * 40)]
    crowded = Measure(limit=1_000, overhead=990, rate=0.25)
    assert divide_history(steps, words, crowded, "asked").cut_seq == 1
    assert divide_history(steps, words, replace(crowded, firm=False), "asked").cut_seq is None


@given(st.lists(st.text(max_size=400), max_size=30), st.lists(st.integers(0, 3_000), max_size=20))
def test_words_are_whole_where_all_of_them_fit_and_else_the_oldest_are_shortened(
    texts: list[str], weights: list[int]
) -> None:
    words = [Words(seq, text) for seq, text in enumerate(texts, 1)]
    steps = [step(weight, seq=100 + at) for at, weight in enumerate(weights)]
    parting = divide_history(steps, words, MEASURE, "limit")
    room = MEASURE.limit * 0.95 - MEASURE.overhead - MEASURE.summary
    tail = sum(one.weight for one in steps[parting.summed :]) * MEASURE.rate
    whole = sum(len(one.text.encode(errors="replace")) + 4 for one in words) * MEASURE.rate
    if whole + tail <= room - 1:
        assert parting.cut_seq is None
    if whole + tail > room + 1 and words:
        assert parting.cut_seq is not None
    assert tail <= MEASURE.limit * FULL


def test_shortened_and_left_out_words_are_told_in_the_text_that_stands_for_them() -> None:
    words = [Words(1, "a" * 50), Words(2, "b" * 50, pictures=1), Words(3, "last")]
    base = ev.Compacted(why="limit", summary="notes", first_seq=1, last_seq=3)
    text = replacement_text(base.model_copy(update={"words_cut_seq": 2, "words_cut_to": 10}), words)
    assert text.startswith(OPENING)
    assert f"- {'a' * 10} […]\n- {'b' * 10} […] [with 1 pictures, no longer shown]\n- last" in text
    left = replacement_text(base.model_copy(update={"words_cut_seq": 2, "words_cut_to": 0}), words)
    assert "[2 older messages are left out: they don't fit]\n- last" in left


def test_a_gauge_reckons_with_what_was_reported() -> None:
    assert Gauge().estimate(1_000, 0) == 1_000 * TOKENS_PER_BYTE
    known = Gauge(load=8_000, tokens=2_500)
    assert known.estimate(8_000, 2_000) == 2_500
    assert known.estimate(12_000, 2_000) == 3_500
    assert known.at_most(12_000) >= 3_500
    assert Gauge().at_most(1_000) >= Gauge().estimate(1_000, 50_000)
