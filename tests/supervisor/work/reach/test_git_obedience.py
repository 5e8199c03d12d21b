"""Nothing that a command or an agent writes is run by the person's git: real git, and programs that leave a mark.

Each case is a project, a place in it that git obeys or comes to obey, and a way to seize that place from inside of
the sandbox. Afterwards a person uses git at the top of the project.
"""

import json
import os
import shutil
import subprocess
import sys
from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from supervisor.work.reach.obeyed_paths import LINKS
from supervisor.work.sandbox.leftover_folders import is_anything_left
from supervisor.work.sandbox.sandbox import Sandbox
from tests.supervisor.agents.acp.confined_agent import Agent
from tests.supervisor.work.commands import limited
from tests.supervisor.work.place import CLOSED, Place, git, on_linux

pytestmark = on_linux
IDENTITY = {f"GIT_{who}_{what}": "t@localhost" for who in ("AUTHOR", "COMMITTER") for what in ("NAME", "EMAIL")}


@dataclass
class Project:
    """A repository, and the variables of the person who works in it."""

    place: Place
    env: dict[str, str] = field(default_factory=dict)

    def __post_init__(self) -> None:
        self.top = self.place.workspace
        self.ran = self.place.outside / "ran"
        self.home = self.place.outside / "home"
        self.home.mkdir(exist_ok=True)
        git(self.top, "init")
        self.write("src/a", "one\n")
        git(self.top, "add", "-A")
        git(self.top, "commit", "-m", "first")

    def write(self, name: str, text: str) -> Path:
        path = self.top / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text)
        return path

    def link(self, path: str, where: Path | None = None) -> None:
        """Put a submodule in the index, as a clone has it that knows nothing of submodules."""
        where = where or self.top
        (where / path).mkdir(parents=True, exist_ok=True)
        head = subprocess.run(["git", "rev-parse", "HEAD"], cwd=self.top, capture_output=True, text=True, check=True)
        git(where, "update-index", "--add", "--cacheinfo", f"160000,{head.stdout.strip()},{path}")
        git(where, "commit", "-m", "link")

    @property
    def environment(self) -> dict[str, str]:
        return {"PATH": os.environ["PATH"], "HOME": str(self.home), **IDENTITY, **self.env}

    def person_works(self, where: Path | None = None) -> None:
        """Look, add everything and commit, as people and their prompts and editors do."""
        (self.top / "by-hand").write_text("x")
        saved = (("add", "-A"), ("commit", "-m", "mine"))
        for words in (("status",), ("diff",), *saved, ("status",), *saved, ("commit", "--amend"), ("status",)):
            subprocess.run(
                ("git", *words), cwd=where or self.top, env=self.environment, check=False, capture_output=True
            )

    def is_safe(self) -> bool:
        return not self.ran.exists()


def repository_in(path: str, ran: Path) -> str:
    """A script that makes a repository of a folder in each way, and leads git to a program in it."""
    return f"""
    p='{path}'; ran='{ran}'; mv "$p/.git" "$p/.moved"; mv "$p" "$p.moved"; rm -rf "$p/.git"; rm -f "$p"; mkdir -p "$p"
    git init -q "$p"; git -C "$p" config core.fsmonitor "touch $ran"
    git -C "$p" -c core.fsmonitor=false -c user.name=e -c user.email=e commit -q --allow-empty -m e
    mkdir -p "$p/.git/objects" "$p/.git/refs/heads" "$p/.git/hooks"
    test -s "$p/.git/HEAD" || echo 'ref: refs/heads/m' > "$p/.git/HEAD"
    printf '[core]\\nrepositoryformatversion=0\\n# \\\\\\nfsmonitor = touch %s\\n' "$ran" >> "$p/.git/config"
    printf '#!/bin/sh\\ntouch %s\\n' "$ran" > "$p/.git/hooks/pre-commit"; chmod +x "$p/.git/hooks/pre-commit"
    """


def program_in(path: str, ran: Path) -> str:
    """A script that puts a program in a place in each way."""
    return f"""
    p='{path}'; d=$(dirname "$p"); rm -f "$p"; test "$d" = . || mv "$d" "$d.moved"; mkdir -p "$d" "$p"; rmdir "$p"
    printf '#!/bin/sh\\ntouch {ran}; exec cat\\n' > new; chmod +x new; cp new "$p"; grep -q {ran} "$p" || cp new n2
    mv n2 "$p" || ln -sf "$PWD/new" "$p"
    """


def hooks_in(folder: str, ran: Path) -> str:
    return "\n".join(
        program_in(f"{folder}/{name}", ran) for name in ("pre-commit", "post-commit", "post-index-change")
    )


def config_in(path: str, ran: Path) -> str:
    return f"""
    p='{path}'; d=$(dirname "$p"); mv "$d" "$d.moved" && mkdir "$d" && cp -r "$d.moved/." "$d"; mkdir -p "$d"
    printf '[core]\\nfsmonitor = touch {ran}\\n' > new; cat new >> "$p" || mv new "$p"
    """


# --- the cases ------------------------------------------------------------------------------------------------------

Case = Callable[[Project], str]  # makes it so, and returns the script that seizes it


def submodule(path: str, *, version: int = 2, split: bool = False, out: bool = False) -> Case:
    def case(project: Project) -> str:
        if split:
            git(project.top, "config", "core.splitIndex", "true")
            git(project.top, "config", "splitIndex.maxPercentChange", "100")
        if out:
            inner = project.top / path
            inner.mkdir(parents=True)
            (project.top / ".git/modules").mkdir()
            git(inner, "init", "--separate-git-dir", str(project.top / ".git/modules/x"))
            git(inner, "commit", "--allow-empty", "-m", "inner")
            git(project.top, "add", path)
            git(project.top, "commit", "-m", "submodule")
        else:
            project.link(path)
        git(project.top, "update-index", "--index-version", str(version))
        assert (project.top / ".git/index").read_bytes()[7] in {version, 3}
        return repository_in(path, project.ran)

    return case


def file_that_becomes_a_submodule_in_a_split_index(project: Project) -> str:
    """The changed entry has no name of its own."""
    project.write("lib", "a file\n")
    git(project.top, "add", "-A")
    git(project.top, "update-index", "--split-index")
    git(project.top, "config", "splitIndex.maxPercentChange", "100")
    (project.top / "lib").unlink()
    project.link("lib")
    assert b"link" in (project.top / ".git/index").read_bytes()
    return repository_in("lib", project.ran)


def submodule_in_a_sparse_index(project: Project) -> str:
    for name in ("x/1", "y/1"):
        project.write(name, "x")
    git(project.top, "add", "-A")
    git(project.top, "commit", "-m", "more")
    project.link("deps/lib")
    git(project.top, "sparse-checkout", "init", "--cone", "--sparse-index")
    git(project.top, "sparse-checkout", "set", "src")
    return repository_in("deps/lib", project.ran)


def submodule_in_place_of_a_file(project: Project) -> str:
    project.link("lib")
    (project.top / "lib").rmdir()
    project.write("lib", "a file in its place")
    return repository_in("lib", project.ran)


def submodule_behind_a_link(project: Project) -> str:
    project.link("deps/lib")
    (project.top / "deps").rename(project.top / "other")
    (project.top / "deps").symlink_to("other")
    return repository_in("deps/lib", project.ran) + repository_in("other/lib", project.ran)


def submodule_of_a_repository_below(project: Project) -> str:
    inner = project.top / "a/b/inner"
    inner.mkdir(parents=True)
    git(inner, "init")
    git(inner, "commit", "--allow-empty", "-m", "inner")
    project.link("deep/lib", inner)
    git(project.top, "add", "-A")
    return repository_in("a/b/inner/deep/lib", project.ran)


def plain_folder(path: str) -> Case:
    def case(project: Project) -> str:
        project.write(f"{path}/file", "x")
        git(project.top, "add", "-A")
        git(project.top, "commit", "-m", "folder")
        return f"rm {path}/file;" + repository_in(path, project.ran)

    return case


def repository_that_points_elsewhere(project: Project) -> str:
    return (
        f"mkdir -p new/store sub; {repository_in('new/store', project.ran)}"
        'echo "gitdir: $PWD/new/store/.git" > sub/.git; ln -s ../new/store/.git new/.git; rm -rf new/store/f'
    )


def hooks_path(how: str, folder: str, *, there: str = "") -> Case:
    """`there`: what is in the place before, `folder` or `link`."""

    def case(project: Project) -> str:
        told = f"[core]\n\thooksPath = {folder}\n"
        match how:
            case "local":
                git(project.top, "config", "core.hooksPath", folder)
            case "worktree":
                git(project.top, "config", "extensions.worktreeConfig", "true")
                (project.top / ".git/config.worktree").write_text(told)
            case "home":
                (project.home / ".gitconfig").write_text(told)
            case "xdg":
                (project.place.outside / "xdg/git").mkdir(parents=True)
                (project.place.outside / "xdg/git/config").write_text(told)
                project.env["XDG_CONFIG_HOME"] = str(project.place.outside / "xdg")
            case "GIT_CONFIG_GLOBAL" | "GIT_CONFIG_SYSTEM":
                (project.place.outside / "gitconfig").write_text(told)
                project.env[how] = str(project.place.outside / "gitconfig")
            case "count":
                settings_ = {"GIT_CONFIG_KEY_0": "core.hooksPath", "GIT_CONFIG_VALUE_0": folder}
                project.env |= {"GIT_CONFIG_COUNT": "1", **settings_}
            case _:
                project.env["GIT_CONFIG_PARAMETERS"] = f"'core.hooksPath'='{folder}'"
        real = folder.removeprefix("./")
        if there == "folder":
            project.write(f"{real}/README", "x")
        elif there == "link":
            project.write("tools/hooks/README", "x")
            (project.top / real).parent.mkdir(parents=True, exist_ok=True)
            (project.top / real).symlink_to(project.top / "tools/hooks")
            return hooks_in(real, project.ran) + hooks_in("tools/hooks", project.ran)
        return hooks_in(real, project.ran)

    return case


def includes(count: int, *, chained: bool = False, missing: bool = False, key: str = "include") -> Case:
    def case(project: Project) -> str:
        names = [f"conf/{number}" for number in range(count)]
        for number, name in enumerate(names):
            if not missing:
                following = f"[include]\n\tpath = {number + 1}\n" if chained and number + 1 < count else ""
                project.write(name, f"[user]\n\tname = x\n{following}")
        listed = names[:1] if chained else names
        text = "".join(f"[{key}] # \\\n\tpath = ../{name}\n" for name in listed)
        git(project.top, "config", "remote.o.url", "x")
        config = project.top / ".git/config"
        config.write_text(config.read_text() + text)
        return config_in(names[-1], project.ran)

    return case


def named_program(key: str, line: str, program: str, *, there: bool = True) -> Case:
    def case(project: Project) -> str:
        git(project.top, "config", key, line)
        if there:
            project.write(program, "#!/bin/sh\nexec cat\n").chmod(0o755)
        project.write(".gitattributes", "* filter=x diff=x\n")
        return program_in(program, project.ran) + "touch src/a; echo >> src/a"

    return case


CASES: dict[str, Case] = {
    "a submodule": submodule("lib"),
    "a submodule, deep": submodule("a/b/c/d/e/f/lib", version=4),
    "a submodule, split index": submodule("vendor/lib", split=True),
    "a submodule, split index of version 4": submodule("vendor/lib", split=True, version=4),
    "a submodule that is checked out": submodule("lib", out=True),
    "a submodule that is checked out, deep": submodule("a/b/c/d/e/f/g/lib", out=True),
    "a submodule with odd letters": submodule("wäßrig/a b/líb"),
    "a file that becomes a submodule": file_that_becomes_a_submodule_in_a_split_index,
    "a sparse index": submodule_in_a_sparse_index,
    "a file in its place": submodule_in_place_of_a_file,
    "a link on the way": submodule_behind_a_link,
    "a repository below": submodule_of_a_repository_below,
    "a plain folder": plain_folder("sub"),
    "a plain folder, deep": plain_folder("a/b/c/d/e/f/g"),
    "a store elsewhere": repository_that_points_elsewhere,
    **{
        f"hooksPath by {how}": hooks_path(how, ".hooks")
        for how in (
            "local",
            "worktree",
            "home",
            "xdg",
            "GIT_CONFIG_GLOBAL",
            "GIT_CONFIG_SYSTEM",
            "count",
            "parameters",
        )
    },
    "hooksPath, deep and there": hooks_path("local", "./tools/git/hooks", there="folder"),
    "hooksPath, a link": hooks_path("home", "tools/linked", there="link"),
    "hooksPath, a link below": hooks_path("local", "h/_", there="link"),
    "17 includes": includes(17),
    "100 includes": includes(100),
    "a chain of includes": includes(9, chained=True),
    "an include that is missing": includes(1, missing=True),
    **{
        f"includeIf {kind}": includes(1, key=f'includeIf "{kind}"')
        for kind in ("gitdir:/", "gitdir/i:/**", "onbranch:main", "hasconfig:remote.*.url:x")
    },
    "more includes than can be closed": includes(400),
    "fsmonitor": named_program("core.fsmonitor", "./tools/watch", "tools/watch"),
    "a filter that is missing": named_program("filter.x.clean", "tools/clean %f", "tools/clean", there=False),
    "a filter in a shell": named_program("filter.x.clean", "sh -c 'tools/clean \"$1\"' -", "tools/clean"),
    "a script of an interpreter": named_program("core.fsmonitor", "sh watch.sh", "watch.sh"),
    "textconv": named_program("diff.x.textconv", "./show", "show"),
    "an editor": named_program("core.editor", '"$(git rev-parse --show-toplevel)/edit"', "edit"),
}


@pytest.mark.parametrize("name", CASES)
def test_a_command_of_ours_leads_the_persons_git_nowhere(place: Place, name: str) -> None:
    project = Project(place)
    script = CASES[name](project)
    did = place.talk(CLOSED, project.top, **project.environment).sh(script)
    project.person_works()
    assert project.is_safe(), did


AGENTS = ("a submodule, deep", "a submodule that is checked out", "hooksPath by count", "17 includes", "fsmonitor")


@pytest.mark.parametrize("name", AGENTS)
def test_an_agent_leads_the_persons_git_nowhere_while_it_lives(place: Place, name: str) -> None:
    project = Project(place)
    script = CASES[name](project)
    agent = Agent(place, env=project.environment)

    async def work() -> str:
        async with agent.lives() as living:
            said = await living.sh(script)
            project.person_works()
            assert project.is_safe(), said
            said += await living.sh(script)
        return said

    said = limited(work())
    project.person_works()
    assert project.is_safe(), said


@pytest.mark.parametrize("name", CASES)
def test_outside_of_the_sandbox_it_would_be_run(place: Place, name: str) -> None:
    """Without this the tests above prove nothing."""
    project = Project(place)
    script = CASES[name](project)
    subprocess.run(["sh", "-c", script], cwd=project.top, env=project.environment, check=False, capture_output=True)
    project.person_works()
    assert not project.is_safe()


def test_a_repository_around_the_directory_is_led_nowhere_either(place: Place) -> None:
    """The directory is a repository of its own, in one that goes into it and names hooks in it."""
    project = Project(place)
    inner = project.top / "packages/app"
    inner.mkdir(parents=True)
    git(inner, "init")
    project.link("packages/app/deps/lib")
    git(project.top, "config", "core.hooksPath", "packages/app/.hooks")
    seized = repository_in("deps/lib", project.ran) + hooks_in(".hooks", project.ran)
    did = place.talk(CLOSED, inner, **project.environment).sh(seized)
    project.person_works()
    assert project.is_safe(), did


def test_names_that_no_file_system_has_stop_no_command(place: Place) -> None:
    project = Project(place)
    long = f"x/{'y' * 300}/{'z' * 5_000}"
    config = project.top / ".git/config"
    config.write_text(f"{config.read_text()}[include]\npath = {long}\n[core]\nhooksPath = {long}\neditor = {long}\n")
    assert place.talk().sh("touch ok").exit_code == 0


def test_as_many_submodules_as_are_closed_can_be_had_and_more_close_the_directory(place: Place) -> None:
    project = Project(place)
    head = subprocess.run(["git", "rev-parse", "HEAD"], cwd=project.top, capture_output=True, text=True, check=True)

    def have(count: int) -> None:
        lines = "".join(f"160000 {head.stdout.strip()}\tvendor/a{n}/lib\n" for n in range(count))
        listed = ("git", "update-index", "--add", "--index-info")
        subprocess.run(listed, cwd=project.top, input=lines, text=True, check=True)

    have(LINKS)
    (project.top / "vendor/a0/lib").mkdir(parents=True)
    did = place.talk().sh("touch ok; mkdir -p vendor/a0/lib/.git/hooks")
    assert (did.exit_code, did.said) == (1, ())
    assert (project.top / "ok").exists()
    have(LINKS + 1)
    did = place.talk().sh("touch more")
    assert f"more than {LINKS} submodules lie in it" in did.said[0]
    assert not (project.top / "more").exists()


def test_a_repository_below_with_more_includes_than_can_be_closed_is_closed_whole(place: Place) -> None:
    project = Project(place)
    git(project.top, "init", "app")
    config = project.top / "app/.git/config"
    config.write_text(config.read_text() + "".join(f"[include]\npath = ../conf/{n}\n" for n in range(300)))
    did = place.talk().sh("touch ok; mkdir app/conf")
    assert did.exit_code == 1
    assert "more than 256 files" in did.said[0]
    assert (project.top / "ok").exists()


def test_a_folder_that_nobody_may_list_hides_no_repository(place: Place, monkeypatch: pytest.MonkeyPatch) -> None:
    """Git goes in by the name of `.git`, which needs no list."""
    project = Project(place)
    git(project.top, "init", "app")
    listed = os.scandir

    def scandir(folder: str) -> object:
        if folder == str(project.top / "app"):
            raise PermissionError(13, "Permission denied")
        return listed(folder)

    monkeypatch.setattr(os, "scandir", scandir)
    assert place.talk().sh("touch app/.git/hooks/pre-commit").exit_code != 0


# --- other ends and orders ------------------------------------------------------------------------------------------

LIFE = """
import json, subprocess, sys
from pathlib import Path
from supervisor.work.sandbox.sandbox import Sandbox
from tests.supervisor.work.place import CLOSED
ledgers, top, script, env = json.loads(sys.argv[1])
with Sandbox(ledgers=Path(ledgers)).confine(CLOSED, Path(top), ("sh", "-c", script), env) as inside:
    subprocess.run(inside.argv, env=dict(inside.env), cwd=inside.cwd, pass_fds=inside.pass_fds, capture_output=True)
    print("done", flush=True)
    sys.stdin.read()
"""


def live_and_be_killed(project: Project, script: str) -> None:
    """Run it as a daemon does that is killed before it has looked at what the command left; then begin anew."""
    ledgers = project.place.outside / "state/leftovers"
    words = json.dumps([str(ledgers), str(project.top), script, project.environment])
    root = Path(__file__).parents[4]
    life = subprocess.Popen(
        (sys.executable, "-c", LIFE, words), cwd=root, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True
    )
    assert life.stdout is not None
    assert life.stdout.readline() == "done\n"
    life.kill()
    life.communicate()
    assert is_anything_left(ledgers)
    Sandbox(ledgers=ledgers).begin()
    assert not is_anything_left(ledgers)


@pytest.mark.parametrize("name", ["a submodule", "a plain folder, deep", "hooksPath, a link"])
def test_after_kill_9_the_next_life_looks_at_what_was_left(place: Place, name: str) -> None:
    project = Project(place)
    script = CASES[name](project)
    odd = os.fsdecode(b"not utf-8 \xff")
    project.write(f"{odd}/f", "x")
    git(project.top / odd, "init")
    git(project.top / odd, "config", "core.hooksPath", odd)
    live_and_be_killed(project, script)
    assert (project.top / odd / ".git").is_dir()
    project.person_works()
    assert project.is_safe()


def test_after_kill_9_a_directory_that_is_no_repository_is_none(place: Place) -> None:
    project = Project(place)
    shutil.rmtree(project.top / ".git")
    (project.top / "HEAD").write_text("ref: refs/heads/main\n")
    fsmonitor = (
        f"[core]\\nrepositoryformatversion = 0\\nbare = false\\nworktree = .\\nfsmonitor = touch {project.ran}\\n"
    )
    live_and_be_killed(project, f"mkdir objects refs; printf '{fsmonitor}' > config")
    project.person_works()
    assert project.is_safe()
    assert (project.top / "HEAD.set-aside-by-greenroom").exists()


def test_a_repository_without_programs_stays_what_it_is(place: Place) -> None:
    project = Project(place)
    did = place.talk().sh("mkdir app; git init -q app; cd app; git config user.name x; git config branch.m.merge y")
    assert did.said == ()
    assert (project.top / "app/.git/HEAD").exists()
    git(project.top / "app", "config", "core.hooksPath", "mine")  # a person's, between two commands
    assert place.talk().sh("touch app/ok").said == ()
    assert (project.top / "app/.git/HEAD").exists()


def test_a_submodule_of_its_own_that_a_command_checks_out_stays_too(place: Place) -> None:
    """Its configuration names its work tree, which leads nowhere else."""
    project = Project(place)
    script = """
    git init -q lib; git -C lib -c user.name=e -c user.email=e commit -q --allow-empty -m e; git init -q app; cd app
    git -c protocol.file.allow=always submodule add -q ../lib lib 2>&1
    """
    did = place.talk(CLOSED, project.top, **project.environment).sh(script)
    assert did.said == ()
    assert (project.top / "app/lib/.git").is_file()


def test_a_new_gitlink_does_not_come_back_from_a_commit(place: Place) -> None:
    project = Project(place)
    agent = Agent(place, env=project.environment)
    make = f"git init -q sub; git -C sub config core.fsmonitor 'touch {project.ran}'"

    async def work() -> list[str]:
        async with agent.lives() as living:
            await living.sh(f"{make}; cd sub; echo x > f")
            head = "$(git rev-parse HEAD)"
            tried = (f"git update-index --add --cacheinfo 160000,{head},sub", f"git rm -q --cached src/a; {make}")
            return [await living.sh(one) for one in (*tried, "echo y > b; git add b && git commit -qm b")]

    (link, *_, commit) = limited(work())
    assert "only a person can add it" in link
    assert "returncode=0" in commit
    project.person_works()
    assert project.is_safe()


@st.composite
def mixtures(draw: st.DrawFn) -> tuple[list[Case], list[int], str]:
    """Some cases in one project, the order in which they are seized, and who does it."""
    names = st.text(
        st.characters(codec="utf-8", exclude_characters="\0/'\"$`\\\n\r", exclude_categories=["C"]), min_size=1
    )
    folder = names.filter(
        lambda name: name.strip(" .") == name and not name.startswith("-") and name.lower() != ".git"
    )
    paths = st.lists(folder.map(lambda name: name[:20].strip(" .") or "x"), min_size=1, max_size=8).map("/".join)
    submodules = st.builds(
        submodule,
        paths.map(lambda path: f"s/{path}"),
        version=st.sampled_from((2, 4)),
        split=st.booleans(),
        out=st.booleans(),
    )
    counted = st.builds(
        includes, st.integers(1, 200), missing=st.booleans(), key=st.sampled_from(("include", 'includeIf "gitdir:/"'))
    )
    hooks = st.builds(
        hooks_path,
        st.sampled_from(("local", "home", "xdg", "GIT_CONFIG_GLOBAL", "count", "parameters")),
        st.sampled_from((".hooks", "./a/b/hooks", "h/_", "tools/x")),
        there=st.sampled_from(("", "folder", "link")),
    )
    cases = draw(
        st.lists(
            st.one_of(submodules, counted, hooks, paths.map(lambda path: plain_folder(f"p/{path}"))),
            min_size=1,
            max_size=3,
        )
    )
    order = draw(st.permutations(range(len(cases))))
    return cases, list(order), draw(st.sampled_from(("command", "commands", "agent", "killed")))


@pytest.mark.soak(takes_s=300)
@pytest.mark.timeout(1800)
def test_no_mixture_of_cases_leads_the_persons_git_anywhere(tmp_path_factory: pytest.TempPathFactory) -> None:
    @settings(max_examples=250, deadline=None, suppress_health_check=list(HealthCheck))
    @given(mixtures())
    def tried(drawn: tuple[list[Case], list[int], str]) -> None:
        cases, order, who = drawn
        base = tmp_path_factory.mktemp("mixture")
        place = Place(base / "work space", base / "outside")
        place.workspace.mkdir()
        place.outside.mkdir()
        project = Project(place)
        try:
            scripts = [case(project) for case in cases]
        except (subprocess.CalledProcessError, FileExistsError, NotADirectoryError):
            return  # two that can't be in one project
        scripts = [scripts[number] for number in order]
        seize(project, scripts, who)
        project.person_works()
        assert project.is_safe()
        shutil.rmtree(base, ignore_errors=True)

    tried()


def seize(project: Project, scripts: list[str], who: str) -> None:
    if who == "killed":
        live_and_be_killed(project, "\n".join(scripts))
    elif who == "agent":
        agent = Agent(project.place, env=project.environment)

        async def work() -> None:
            async with agent.lives() as living:
                with agent.sandbox.watch_projects(CLOSED, project.top, agent.pins(), agent.environment):
                    for script in scripts:
                        await living.sh(script)

        limited(work())
    else:
        talk = project.place.talk(CLOSED, project.top, **project.environment)
        for script in scripts if who == "commands" else ["\n".join(scripts)]:
            talk.sh(script)
