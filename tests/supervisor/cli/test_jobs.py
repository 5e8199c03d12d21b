"""`greenroom jobs`: people see to background commands from any terminal."""

import json
import time

from tests.supervisor.cli.place import Place, until

SCRIPT = "echo up; read word; echo got $word; read end; exit 4"


def begun(place: Place) -> str:
    conversation = place.new(f"keep {SCRIPT}", "--sandbox", "danger-full-access", "--approval", "never")
    place.at_rest(conversation)
    (job,) = (row["job"] for row in place.json("jobs", "list", "--conversation", conversation, "--json"))
    return str(job)


def test_a_job_is_listed_read_written_to_waited_for_and_seen_in_the_history(place: Place) -> None:
    job = begun(place)
    assert f"\t{SCRIPT}" in next(line for line in place.said("jobs").splitlines() if line.startswith(job))
    assert place.said("jobs", "read", job) == "up"
    place.run("jobs", "write", job, "apples")
    until(lambda: "got apples" in place.said("jobs", "read", job))
    place.run("jobs", "write", job, "--end-input")
    assert place.run("jobs", "wait", job, "-t", "10s", code=1).stdout == f"{job}: ended with exit code 4\n"
    assert place.run("jobs", "read", "--follow", job).stdout == "up\ngot apples\n"
    told = json.loads(place.said("jobs", "read", job, "--json"))
    assert (told["job"], told["output"], told["running"]) == (job, "up\ngot apples\n", False)
    until(lambda: f"job {job} ended with exit code 4" in place.said("logs", "@last"))
    assert "nobody reads" in place.run("jobs", "write", job, "x", code=6).stderr


def test_a_job_is_ended_with_all_of_it_and_by_name(place: Place) -> None:
    job = begun(place)
    began = time.monotonic()
    assert place.said("jobs", "end", job[:3]) == f"{job}: was ended by greenroom jobs"
    assert time.monotonic() - began < 10
    assert [row["running"] for row in place.json("jobs", "--json") if row["job"] == job] == [False]


def test_wrong_words_are_told(place: Place) -> None:
    assert "no job is named" in place.run("jobs", "read", code=2).stderr
    assert "`greenroom jobs` lists them" in place.run("jobs", "end", "zzzz", code=5).stderr


def test_interrupt_and_archive_name_the_commands_that_run_in_the_background(place: Place) -> None:
    job = begun(place)
    conversation = next(row["conversation"] for row in place.json("jobs", "--json") if row["job"] == job)
    assert place.said("interrupt", conversation).splitlines()[1:] == [
        f"job {job} goes on in the background; `greenroom jobs end {job}` ends it"
    ]
    assert f"`greenroom jobs end {job}` ends one" in place.run("archive", conversation, code=6).stderr
    assert f"\njobs        {job} running for " in place.said("status", conversation)
    place.run("jobs", "end", job)
    assert "\njobs " not in place.said("status", conversation)
    assert "background" not in place.said("interrupt", conversation)


def test_the_ids_of_jobs_are_offered_to_complete(place: Place) -> None:
    job = begun(place)
    until(lambda: job in place.said("__complete", "jobs", "read", ""))


def test_a_stop_of_the_daemon_names_the_jobs_that_end_with_it(quiet: Place) -> None:
    quiet.run("up")
    job = begun(quiet)
    told = quiet.run("down")
    assert (told.stdout, told.stderr) == ("down\n", "greenroom: 1 background command ends with it\n")
    quiet.run("up")
    (line,) = [line for line in quiet.said("logs", "@last").splitlines() if f"job {job}" in line and "end" in line]
    assert "was ended by the daemon" in line
    assert quiet.run("down").stderr == ""
