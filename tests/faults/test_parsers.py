"""F, inside: the three parsers of foreign text against anything at all, by hypothesis and, if there, atheris."""

import importlib.util
import re
import subprocess
import sys
from pathlib import Path

import pytest
from hypothesis import Phase, given, settings
from hypothesis import strategies as st

from tests.faults.conftest import Measure
from tests.faults.fuzz import TARGETS
from tests.faults.report import Row

ROOT = Path(__file__).resolve().parents[2]
EXAMPLES = {"quick": 400, "soak": 15_000}
FUZZ_S = 30
# Pieces that mean something to one of them, so that chance finds more than noise.
TOKENS = (
    *(b"data: ", b"data:", b"\n", b"\r", b"\r\n", b"\n\n", b"event: x\n", b": comment\n", b"\xef\xbb\xbf", b"[DONE]"),
    *(b'{"jsonrpc":"2.0"', b',"id":', b'"method":"x"', b"}", b"[", b"1e999", b'"\\ud800"', b"null", b"x" * 65),
    *(b"*** Begin Patch\n", b"*** End Patch\n", b"*** Add File: a\n", b"*** Update File: b\n", b"*** Move to: c\n"),
    *(
        b"*** Delete File: d\n",
        b"@@\n",
        b"@@ def f():\n",
        b"+x\n",
        b"-x\n",
        b" x\n",
        b"*** End of File\n",
        b"<<EOF\n",
    ),
)
DATA = st.lists(st.sampled_from(TOKENS) | st.binary(max_size=8), max_size=25).map(b"".join)


def tried(name: str, row: Row, examples: int) -> None:
    @settings(max_examples=examples, database=None, phases=[Phase.generate, Phase.shrink])
    @given(DATA)
    def run(data: bytes) -> None:
        TARGETS[name](data)
        row.times += 1

    run()


@pytest.mark.parametrize("name", TARGETS)
def test_a_parser_takes_anything(name: str, measure: Measure) -> None:
    with measure("F", f"anything at all into the parser `{name}`") as row:
        tried(name, row, EXAMPLES["quick"])


@pytest.mark.soak(takes_s=40)
@pytest.mark.parametrize("name", TARGETS)
def test_a_parser_takes_anything_for_long(name: str, measure: Measure) -> None:
    with measure("F", f"anything at all into the parser `{name}`") as row:
        tried(name, row, EXAMPLES["soak"])


# A program inherits the peak of the memory of whoever started it, and libFuzzer gives up where that is too high: a
# test before this one may have been large, a shell is not.
FORGETFUL = ("sh", "-c", '"$@"; exit $?', "sh")


@pytest.mark.soak(takes_s=50)
@pytest.mark.parametrize("name", TARGETS)
def test_a_parser_withstands_fuzzing_by_coverage(name: str, measure: Measure, tmp_path: Path) -> None:
    if importlib.util.find_spec("atheris") is None:
        pytest.skip("atheris is not installed: pip install atheris")
    with measure("F", f"atheris, {FUZZ_S} s, into the parser `{name}`") as row:
        ended = subprocess.run(
            [
                *FORGETFUL,
                sys.executable,
                "-m",
                "tests.faults.fuzz",
                name,
                f"-max_total_time={FUZZ_S}",
                f"-artifact_prefix={tmp_path}/",
            ],
            cwd=ROOT,
            capture_output=True,
            text=True,
            timeout=FUZZ_S * 5,
            check=False,
        )
        assert ended.returncode == 0, ended.stderr[-3000:]
        done = re.search(r"Done (\d+) runs", ended.stderr)
        assert done is not None, ended.stderr[-3000:]
        row.times = int(done[1])
