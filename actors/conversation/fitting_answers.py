"""Answers that fit their questions: an option that the agent offers, the fields of a server's form. Pure.

An answer is made exact before it is stored: the agent or the server gets what the history says.
"""

from collections.abc import Callable, Iterable, Mapping
from math import isfinite

from msgspec import Struct
from msgspec.structs import replace

from actors.conversation.choices import ApprovalChoice, can_be_kept, choices
from actors.vocabulary import events as ev
from actors.vocabulary.errors import InvalidInput
from actors.vocabulary.event_bases import FormField, FormValue
from actors.vocabulary.settings import Decision

TEXT_LENGTH = 64 * 1024  # characters of one field: words of a person, kept in the history for ever
LARGEST_EXACT = 2**53  # beyond it, programs that read JSON do not agree on a number
MOST_CHOICES = 256  # choices of one field; a form offers no more

OPTION = "option"  # the field in which a client that only has forms says which option is meant
YES = {Decision.APPROVED, Decision.APPROVED_FOR_SESSION}
TRUE, FALSE = {"true", "yes", "y", "1", "on"}, {"false", "no", "n", "0", "off"}


class FittingAnswer(Struct, frozen=True):
    decision: Decision
    option: str = ""  # by its id
    content: dict[str, FormValue] = {}
    outside: bool = False


def fit_answer(
    request: ev.ApprovalRequested,
    decision: Decision,
    option: str,
    content: Mapping[str, object],
    *,
    outside: bool = False,
) -> FittingAnswer | InvalidInput:
    """Make the answer exact, or return why it does not fit; then the question stays open."""
    form = request.subject.form if isinstance(request.subject, ev.FormSubject) else ()
    if not form and set(content) == {OPTION}:
        option, content = str(content[OPTION]), {}
    try:
        if option:
            chosen = _with_option(request, decision, option)
            outside, decision = outside or chosen.outside, chosen.decision
        elif content and decision not in YES:
            return InvalidInput("a no tells the server nothing; leave out what it would be told")
        else:
            _need_a_yes_for_once(request, decision)
            chosen = FittingAnswer(decision, content=_form_values(form, content) if decision in YES else {})
        leaves = outside and _leaves(request, decision)
    except ValueError as error:
        return InvalidInput(str(error))
    if decision is Decision.APPROVED_FOR_SESSION and not can_be_kept(request):
        decision = Decision.APPROVED  # no later question would be known as the same; the client is told
    return replace(chosen, decision=decision, outside=leaves)


def _leaves(request: ev.ApprovalRequested, decision: Decision) -> bool:
    """Tell whether `outside` adds to the yes. Raises ValueError where the question is not about that."""
    if decision not in YES:
        raise ValueError("a no runs nothing, inside or outside; leave `outside` out")
    if not (request.may_leave or request.outside_sandbox):
        raise ValueError(
            "this question is not about leaving the sandbox; answer it with yes or no, without `outside`"
        )
    return request.may_leave


def _need_a_yes_for_once(request: ev.ApprovalRequested, decision: Decision) -> None:
    """Raise ValueError where an agent offers rules alone: a plain yes is never sent as a rule."""
    if decision in YES and request.options and all(option.kind != "allow_once" for option in request.options):
        rules = [
            f"{choice.id} ({choice.name})" for choice in choices(request) if choice.decision is Decision.APPROVED
        ]
        raise ValueError(
            f"the agent offers no yes for once; name one of its own rules as the option: {', '.join(rules)}"
        )


# --- options --------------------------------------------------------------------------------------------------------


def _with_option(request: ev.ApprovalRequested, decision: Decision, wanted: str) -> FittingAnswer:
    chosen = _find_choice(request, wanted)
    if (decision in YES) != (chosen.decision in YES):
        said, other = ("yes", "no") if decision in YES else ("no", "yes")
        raise ValueError(f"the option {chosen.id!r} ({chosen.name}) is a {other}, and the answer is a {said}")
    meant = decision if decision is Decision.ABORT else chosen.decision
    return FittingAnswer(meant, chosen.option, outside=chosen.outside)


def _find_choice(request: ev.ApprovalRequested, wanted: str) -> ApprovalChoice:
    """The choice with this id, or the only one with this name, whose case does not matter."""
    offered, known = request.options, choices(request)
    if not offered and not request.may_leave:
        raise ValueError("this question offers no options; answer it with yes or no")
    named = wanted.strip().casefold()
    so_called = {
        option.id
        for option in offered
        if named in {option.id.casefold(), option.name.strip().casefold(), option.kind}
    }
    found = [choice for choice in known if choice.id == wanted] or [
        choice for choice in known if choice.option in so_called
    ]
    if len(found) == 1:
        return found[0]
    names = {option.id: option.name for option in offered}
    told = ", ".join(
        f"{choice.id} ({names.get(choice.id, choice.name)})" for choice in known if choice.option or not offered
    )
    problem = "stands for several options" if found else "is not an option"
    raise ValueError(f"{wanted!r} {problem} of this question; it offers {told}")


# --- fields ---------------------------------------------------------------------------------------------------------


def _form_values(form: tuple[FormField, ...], content: Mapping[str, object]) -> dict[str, FormValue]:
    """The values for the server: those of the answer, and the defaults of the other fields."""
    unknown = [name for name in content if all(field.name != name for field in form)]
    if unknown:
        known = f"its fields are {', '.join(field.name for field in form)}" if form else "it has none"
        raise ValueError(f"{', '.join(unknown[:MOST_CHOICES])}: this question has no such field; {known}")
    values: dict[str, FormValue] = {}
    for field in form:
        if field.name in content:
            values[field.name] = field_value(field, content[field.name])
        elif field.default is not None:
            values[field.name] = field.default
    missing = [field for field in form if field.required and field.name not in values]
    if missing:
        needed = ", ".join(f"{field.name} ({field.type})" for field in missing)
        raise ValueError(f"the server needs {needed}; say it as {missing[0].name}=VALUE, or deny the question")
    return values


def field_value(field: FormField, said: object) -> FormValue:
    """Read the answer for a field. Raises ValueError, in words for people, if it does not fit."""
    read = _READ[field.type](field, said)
    many = read if isinstance(read, tuple) else (read,)
    wrong = [part for part in many if field.choices and part not in field.choices]
    if wrong:
        raise ValueError(f"{field.name}: {wrong[0]!r} is none of {', '.join(field.choices)}")
    if isinstance(read, str | tuple):
        _check_bounds(field, len(read), " long")
    elif not isinstance(read, bool):
        _check_bounds(field, read, "")
    return read


def _check_bounds(field: FormField, size: float, unit: str) -> None:
    if field.least is not None and size < field.least:
        raise ValueError(f"{field.name}: at least {field.least:g}{unit}, and it is {size:g}")
    if field.most is not None and size > field.most:
        raise ValueError(f"{field.name}: at most {field.most:g}{unit}, and it is {size:g}")


def _text(field: FormField, said: object) -> str:
    if not isinstance(said, str):
        raise ValueError(f"{field.name} is a text")  # noqa: TRY004  # a refusal for people, not a bug
    if len(said) > TEXT_LENGTH:
        raise ValueError(f"{field.name}: {len(said):,} characters, {TEXT_LENGTH:,} are possible")
    if said in field.names and said not in field.choices:  # a choice may be said as people call it
        return field.choices[field.names.index(said)]
    return said


def _number(field: FormField, said: object) -> float:
    """A number, which may come as text, for example from the command line."""
    try:
        number = float(said) if isinstance(said, str | int | float) and not isinstance(said, bool) else None
    except (ValueError, OverflowError):
        number = None
    if number is None or not isfinite(number):
        raise ValueError(f"{field.name} is a number, and {_excerpt(said)} is none")
    return said if isinstance(said, int) else number


def _integer(field: FormField, said: object) -> int:
    number = _number(field, said)
    if not float(number).is_integer() or abs(number) > LARGEST_EXACT:
        raise ValueError(f"{field.name} is a whole number, and {_excerpt(said)} is none that every program can hold")
    return int(number)


def _boolean(field: FormField, said: object) -> bool:
    word = str(said).strip().casefold() if isinstance(said, str | bool) else ""
    if word not in TRUE | FALSE:
        raise ValueError(f"{field.name} is yes or no, and {_excerpt(said)} is neither")
    return word in TRUE


def _array(field: FormField, said: object) -> tuple[str, ...]:
    if isinstance(said, str):
        said = [part.strip() for part in said.split(",")] if said else []
    parts: Iterable[object] = said if isinstance(said, list | tuple) else (said,)
    several = tuple(dict.fromkeys(_text(field, part) for part in parts))
    if len(several) > MOST_CHOICES:
        raise ValueError(f"{field.name}: {len(several)} choices, {MOST_CHOICES} are possible")
    return several


def _excerpt(said: object) -> str:
    return repr(said)[:100]


_READ: Mapping[str, Callable[[FormField, object], FormValue]] = {
    "string": _text,
    "number": _number,
    "integer": _integer,
    "boolean": _boolean,
    "array": _array,
}
