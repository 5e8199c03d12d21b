"""The tools that look at files, as they are described to models. Data."""

from typing import Any

from supervisor.agents.own.model.request import ToolSpec

READ_FILE, LIST_DIR, GREP, VIEW_IMAGE = "read_file", "list_dir", "grep", "view_image"


def tool_spec(name: str, description: str, required: tuple[str, ...], **properties: dict[str, Any]) -> ToolSpec:
    return ToolSpec(
        name,
        description,
        {"type": "object", "properties": properties, "required": list(required), "additionalProperties": False},
    )


def text(description: str) -> dict[str, Any]:
    return {"type": "string", "description": description}


def whole_number(description: str) -> dict[str, Any]:
    return {"type": "integer", "minimum": 1, "description": description}


READ = tool_spec(
    READ_FILE,
    "Reads a text file and returns its lines with their numbers.",
    ("path",),
    path=text("The file, relative to the working directory."),
    offset=whole_number("The first line to return. Default: 1."),
    limit=whole_number("How many lines at most."),
)
LIST = tool_spec(
    LIST_DIR,
    "Lists a directory, hidden names included.",
    (),
    path=text("The directory. Default: the working directory."),
    depth=whole_number("How many levels deep. Default: 1."),
)
SEARCH = tool_spec(
    GREP,
    "Searches files for a regular expression (Python's), line by line. Leaves out what .gitignore names.",
    ("pattern",),
    pattern=text("The regular expression."),
    path=text("A file or directory. Default: the working directory."),
    glob=text("Search only files whose path below it matches, such as *.py or src/**/*.ts."),
    ignore_case={"type": "boolean", "description": "Take upper and lower case for the same."},
    context=whole_number("Lines to show before and after each match."),
    max_matches=whole_number("How many matches at most. Default: 100."),
)
VIEW = tool_spec(
    VIEW_IMAGE,
    "Shows you a picture in a file (PNG, JPEG, GIF, WebP).",
    ("path",),
    path=text("The file, relative to the working directory."),
)
