"""Mercurial and its like: the files that lead them to programs are closed; new ones are set aside."""

import pytest

from supervisor.work.reach.other_version_control import CONTROL_FILES
from tests.supervisor.work.place import Place, on_linux

pytestmark = on_linux
LED = [(system, file) for system, files in CONTROL_FILES.items() for file in files]


@pytest.mark.parametrize("below", [".", "a/b/c/d"])
@pytest.mark.parametrize(("system", "file"), LED)
def test_files_that_lead_version_control_are_closed_and_all_others_open(
    place: Place, system: str, file: str, below: str
) -> None:
    top = place.workspace / below
    (top / system / "store").mkdir(parents=True)
    write = f"mkdir -p $(dirname {system}/{file}); echo x > {system}/{file}"
    did = place.talk().sh(f"cd {below}; {write}; mv {system} y; touch {system}/store/ok")
    assert did.exit_code == 0
    assert not (top / "y").exists()
    assert (top / system / "store/ok").exists()
    assert not (top / system / file).exists()


@pytest.mark.parametrize(("system", "file"), LED)
def test_a_new_one_that_is_led_is_set_aside(place: Place, system: str, file: str) -> None:
    did = place.talk().sh(f"mkdir -p app/{system}/$(dirname {file}); echo x > app/{system}/{file}")
    assert f"its {system} is now {system}.set-aside-by-greenroom" in did.said[0]
    assert not (place.workspace / "app" / system).exists()


@pytest.mark.parametrize("system", CONTROL_FILES)
def test_a_new_one_that_is_not_led_stays(place: Place, system: str) -> None:
    assert place.talk().sh(f"mkdir {system}; echo x > {system}/requires").said == ()
    assert (place.workspace / system / "requires").exists()
