"""The tools that look at files, as they are described to models. Data."""

from typing import Any

from supervisor.agents.own.model.request import ToolSpec

READ_FILE, LIST_DIR, GREP, VIEW_IMAGE = "read_file", "list_dir", "grep", "view_image"


def described(name: str, description: str, required: tuple[str, ...], **properties: dict[str, Any]) -> ToolSpec:
    return ToolSpec(
        name,
        description,
        {"type": "object", "properties": properties, "required": list(required), "additionalProperties": False},
    )


def text(description: str) -> dict[str, Any]:
    return {"type": "string", "description": description}


def whole(description: str) -> dict[str, Any]:
    return {"type": "integer", "minimum": 1, "description": description}


READ = described(
    READ_FILE,
    "Reads a text file and returns its lines with their numbers.",
    ("path",),
    path=text("The file, relative to the working directory."),
    offset=whole("The first line to return. Default: 1."),
    limit=whole("How many lines at most."),
)
LIST = described(
    LIST_DIR,
    "Lists a directory, hidden names included.",
    (),
    path=text("The directory. Default: the working directory."),
    depth=whole("How many levels deep. Default: 1."),
)
SEARCH = described(
    GREP,
    "Searches files for a regular expression (Python's), line by line. Leaves out what .gitignore names.",
    ("pattern",),
    pattern=text("The regular expression."),
    path=text("A file or directory. Default: the working directory."),
    glob=text("Search only files whose path below it matches, such as *.py or src/**/*.ts."),
    ignore_case={"type": "boolean", "description": "Take upper and lower case for the same."},
    context=whole("Lines to show before and after each match."),
    max_matches=whole("How many matches at most. Default: 100."),
)
VIEW = described(
    VIEW_IMAGE,
    "Shows you a picture in a file (PNG, JPEG, GIF, WebP).",
    ("path",),
    path=text("The file, relative to the working directory."),
)
