"""git's configuration, read as git reads it, and the settings that can make git start a program. Pure.

Every setting that is not known to be harmless counts: a list of those that start programs would never be complete.
"""

import re
import shlex
from collections.abc import Iterator, Mapping
from typing import NamedTuple

COUNT, KEY, VALUE, PARAMETERS = "GIT_CONFIG_COUNT", "GIT_CONFIG_KEY_", "GIT_CONFIG_VALUE_", "GIT_CONFIG_PARAMETERS"
MOST_BY_VARIABLES = 1_000  # settings that are read from variables
INCLUDE, CONDITIONAL = ("include", "path"), ("includeif", "path")
HOOKS = ("core", "hookspath")
SPACES = frozenset(" \t\r")
ESCAPED: Mapping[str, str] = {"t": "\t", "b": "\b", "n": "\n", "\\": "\\", '"': '"'}
NAME = re.compile(r"[A-Za-z][A-Za-z0-9-]*")
HEADER = re.compile(r'\[([A-Za-z0-9.-]+)(?:[ \t\r]+"((?:[^"\\\n]|\\[^\n])*)")?\]')
# Variables that name programs which git starts, or places of programs, with the key of the like setting.
PROGRAMS: Mapping[str, str] = {
    **dict.fromkeys(("GIT_SSH", "GIT_SSH_COMMAND", "GIT_PROXY_COMMAND", "GIT_ASKPASS", "SSH_ASKPASS"), "command"),
    **dict.fromkeys(("GIT_EDITOR", "GIT_SEQUENCE_EDITOR", "EDITOR", "VISUAL", "GIT_PAGER", "PAGER"), "command"),
    **dict.fromkeys(("GIT_EXTERNAL_DIFF",), "command"),
    **dict.fromkeys(("GIT_EXEC_PATH", "GIT_TEMPLATE_DIR"), "templatedir"),
}

_URLS = frozenset({"url", "pushurl"})
# Sections without any setting that starts a program or names a place of programs.
_HARMLESS_SECTIONS = frozenset(
    {
        "user",
        "author",
        "committer",
        "extensions",
        "color",
        "advice",
        "i18n",
        "column",
        "push",
        "pull",
        "fetch",
        "http",
    }
    | {"rerere", "index", "pack", "feature", "status", "stash", "versionsort", "safe", "checkout", "rebase", "apply"}
)
_HARMLESS: Mapping[str, frozenset[str]] = {
    "core": frozenset(
        {"repositoryformatversion", "filemode", "bare", "logallrefupdates", "ignorecase", "precomposeunicode"}
        | {"symlinks", "autocrlf", "eol", "safecrlf", "quotepath", "longpaths", "compression", "bigfilethreshold"}
        | {"protecthfs", "protectntfs", "sparsecheckout", "sparsecheckoutcone", "untrackedcache", "splitindex"}
        | {"preloadindex", "abbrev", "sharedrepository", "whitespace", "excludesfile", "attributesfile", "checkstat"}
        | {"trustctime", "commentchar", "multipackindex", "commitgraph", "loosecompression"}
    ),
    "remote": frozenset(
        {*_URLS, "fetch", "push", "tagopt", "prune", "prunetags", "promisor", "partialclonefilter", "mirror"}
        | {"skipdefaultupdate", "skipfetchall", "gh-resolved"}
    ),
    "submodule": frozenset({"url", "active", "branch", "ignore", "path", "recurse", "fetchrecursesubmodules"}),
    "init": frozenset({"defaultbranch"}),
    "commit": frozenset({"template", "verbose", "status", "cleanup"}),
    "merge": frozenset({"ff", "conflictstyle", "log", "renames", "stat", "autostash"}),
    "diff": frozenset({"renames", "algorithm", "colormoved", "mnemonicprefix", "noprefix", "context", "submodule"}),
    "blame": frozenset({"ignorerevsfile", "date", "coloring"}),
    "gc": frozenset({"auto", "autodetach", "pruneexpire"}),
    "maintenance": frozenset({"auto", "strategy"}),
    "lfs": frozenset({"repositoryformatversion", "access", "locksverify"}),
}


class GitSetting(NamedTuple):
    """A setting: its section and key in lower case, the subsection as it is written, and its value."""

    section: str
    sub: str
    key: str
    value: str

    @property
    def name(self) -> str:
        return ".".join(part for part in (self.section, self.sub, self.key) if part)

    @property
    def is_harmless(self) -> bool:
        """Tell whether the setting can't make git start a program."""
        if self.key in _URLS and ("::" in self.value or self.value.startswith("-")):
            return False  # the name of a helper that would be started, or an option
        if self.section == "branch":
            return self.key != "mergeoptions"
        return self.section in _HARMLESS_SECTIONS or self.key in _HARMLESS.get(self.section, ())


def parse_settings(text: str) -> Iterator[GitSetting]:
    """Yield the settings of a file, up to an error at which git would stop: git starts nothing then."""
    text, at, section, sub = text.replace("\r\n", "\n") + "\n", 0, "", ""  # git ends the last line at the file's end
    while at < len(text):
        character = text[at]
        if character == "\n" or character in SPACES:
            at += 1
        elif character in "#;":
            at = _end_of_line(text, at)
        elif character == "[":
            if (header := HEADER.match(text, at)) is None:
                return
            section, _, dotted = header[1].partition(".")
            sub, at = re.sub(r"\\(.)", r"\1", header[2]) if header[2] is not None else dotted, header.end()
        else:
            if (name := NAME.match(text, at)) is None:
                return
            value, at = _value(text, name.end())
            if value is None:
                return
            yield GitSetting(section.lower(), sub, name[0].lower(), value.partition("\0")[0])


def _end_of_line(text: str, at: int) -> int:
    return end if (end := text.find("\n", at)) >= 0 else len(text)


def _value(text: str, at: int) -> tuple[str | None, int]:
    """Read the rest of a setting; return its value, None for an error, and the position after it."""
    while at < len(text) and text[at] in " \t":
        at += 1
    if at == len(text) or text[at] == "\n":
        return "", at
    if text[at] != "=":
        return None, at
    value, kept, quoted, at = "", 0, False, at + 1
    while at < len(text) and (text[at] != "\n" or quoted):
        character = text[at]
        if character == "\n" or (character == "\\" and not _is_escape(text, at)):
            return None, at
        if character == "\\":
            at += 1
            value += ESCAPED.get(text[at], "")
            kept = len(value)
        elif character == '"':
            quoted, kept = not quoted, len(value)
        elif character in "#;" and not quoted:
            at = _end_of_line(text, at)
            break
        elif quoted or character not in SPACES:
            value += character
            kept = len(value)
        elif value:
            value += character
        at += 1
    return (None, at) if quoted else (value[:kept], at)


def _is_escape(text: str, at: int) -> bool:
    return at + 1 < len(text) and (text[at + 1] in ESCAPED or text[at + 1] == "\n")


def settings_from_variables(env: Mapping[str, str]) -> Iterator[GitSetting]:
    """Yield the settings that variables pass to git."""
    count = env.get(COUNT, "")
    for number in range(min(int(count), MOST_BY_VARIABLES) if count.isdecimal() else 0):
        yield _setting_of(env.get(f"{KEY}{number}", ""), env.get(f"{VALUE}{number}", ""))
    for word in _words(env.get(PARAMETERS, "")):  # 'KEY=VALUE', and in newer versions 'KEY'='VALUE'
        key, _, value = word.partition("=")
        yield _setting_of(key, value)


def _setting_of(name: str, value: str) -> GitSetting:
    section, _, rest = name.partition(".")
    sub, _, key = rest.rpartition(".")
    return GitSetting(section.lower(), sub, key.lower(), value)


def folder_of_hooks(path: str) -> str:
    """Return the folder with the hooks; for `.husky/_` that is its parent, as programs in `_` start those there."""
    return path.rstrip("/").removesuffix("/_")


def paths_in(command: str, folder: str, home: str) -> Iterator[str]:
    """Yield the possible paths in a line that git passes to a shell, which starts in `folder`."""
    for expression, value in (
        ("$(git rev-parse --show-toplevel)", folder),
        ("`git rev-parse --show-toplevel`", folder),
        *((f"{before}{name}{after}", folder) for name in ("PWD", "GIT_WORK_TREE") for before, after in _QUOTING),
        *((f"{before}HOME{after}", home) for before, after in _QUOTING),
    ):
        command = command.replace(expression, value)
    for word in _words(command.removeprefix("!")):
        inner = _words(word) if re.search(r"[\s;|&()]", word) else ()  # the script of a `sh -c`
        for text in (word, *inner):
            yield from (part for part in (text, text.partition("=")[2]) if part and not part.startswith("-"))


_QUOTING = (("${", "}"), ("$", ""))


def _words(line: str) -> list[str]:
    """Split a line as a shell does; if its quotes don't match, at blanks."""
    try:
        lexer = shlex.shlex(line, posix=True, punctuation_chars=True)
        lexer.whitespace_split = True
        lexer.commenters = ""
        return list(lexer)
    except ValueError:
        return line.replace("'", " ").replace('"', " ").split()
