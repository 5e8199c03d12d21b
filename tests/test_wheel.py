"""The wheel: the packages, all that they have and nothing else."""

import re
import subprocess
import sys
import tomllib
import zipfile
from collections.abc import Iterator
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parent.parent
PACKAGES = ("actors", "transports", "supervisor", "greenroom")


@pytest.fixture(scope="module")
def wheel(tmp_path_factory: pytest.TempPathFactory) -> Iterator[zipfile.ZipFile]:
    target = tmp_path_factory.mktemp("wheel")
    command = [sys.executable, "-m", "hatchling", "build", "--target", "wheel", "--directory", str(target)]
    subprocess.run(command, cwd=ROOT, check=True, capture_output=True, timeout=50)
    (path,) = target.glob("*.whl")
    with zipfile.ZipFile(path) as opened:
        yield opened


def test_the_wheel_has_every_file_of_the_packages_and_no_other(wheel: zipfile.ZipFile) -> None:
    ours = {
        str(path.relative_to(ROOT))
        for package in PACKAGES
        for path in (ROOT / package).rglob("*")
        if path.is_file() and "__pycache__" not in path.parts
    }
    assert {name for name in wheel.namelist() if ".dist-info/" not in name} == ours


def test_the_wheel_says_that_its_packages_are_typed(wheel: zipfile.ZipFile) -> None:
    assert {f"{package}/py.typed" for package in PACKAGES} <= set(wheel.namelist())


def test_the_wheel_has_the_command_and_needs_what_the_project_names(wheel: zipfile.ZipFile) -> None:
    project = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]
    (info,) = {name.partition("/")[0] for name in wheel.namelist() if ".dist-info/" in name}
    told = wheel.read(f"{info}/METADATA").decode()
    needed = set(re.findall(r"^Requires-Dist: ([\w-]+)(?!.*extra)", told, re.MULTILINE))
    assert needed == {re.split(r"[<>=]", one)[0] for one in project["dependencies"]}
    assert f"greenroom = {project['scripts']['greenroom']}" in wheel.read(f"{info}/entry_points.txt").decode()
