"""A JSON Schema as a table of members, for people. Pure."""

from collections.abc import Iterable, Iterator, Mapping
from typing import Any

Schema = Mapping[str, Any]
Pages = Mapping[str, str]  # the page of a named structure that is not on this page
HERE: Pages = {}


def member_table(
    schema: Schema, known: Schema | None = None, *, but: str = "", pages: Pages = HERE, asked: bool = False
) -> Iterator[str]:
    """Write the table. `asked`: the reader writes these members, and must know which may be left out."""
    properties = {name: member for name, member in schema.get("properties", {}).items() if name != but}
    if not properties:
        yield "It takes nothing." if asked else "It has no members."
        return
    required, definitions = schema.get("required", ()), schema.get("$defs", known or {})
    yield "| member | type | meaning |"
    yield "|---|---|---|"
    for name, member in properties.items():
        optional = ", optional" if asked and name not in required else ""
        yield f"| `{name}` | {kind_of(member, definitions, pages)}{optional} | {member.get('description', '')} |"


def kind_of(schema: Schema, definitions: Schema, pages: Pages) -> str:
    if "$ref" in schema:
        name = schema["$ref"].rpartition("/")[2]
        target = definitions[name]
        if "enum" in target or "const" in target:
            return kind_of(target, definitions, pages)
        return f"[{name}]({pages.get(name, '')}#{name.lower()})"
    if "anyOf" in schema or "oneOf" in schema:
        kinds = [kind_of(choice, definitions, pages) for choice in schema.get("anyOf", schema.get("oneOf", ()))]
        return " or ".join(dict.fromkeys(kinds))
    if "const" in schema:
        return f"`{schema['const']}`"
    if "enum" in schema:
        return "one of " + ", ".join(f"`{value}`" for value in schema["enum"])
    match schema.get("type"):
        case "array":
            return f"list of {kind_of(schema.get('items', {}), definitions, pages)}"
        case "object":
            return "object"
        case "string" if schema.get("format") == "path":
            return "path"
        case str() as kind:
            return kind
        case list() as kinds:
            return " or ".join(kinds)
        case _:
            return "anything"


def resolve_reference(schema: Schema, definitions: Schema) -> Schema:
    """Resolve a reference."""
    named: Schema = definitions[schema["$ref"].rpartition("/")[2]] if "$ref" in schema else schema
    return named


def one_line(text: str) -> str:
    return " ".join(text.split())


def page(parts: Iterable[str]) -> str:
    return "\n".join(parts).rstrip("\n") + "\n"
