"""`greenroom skills`: where they are from, and what is wrong with one."""

from tests.supervisor.cli.place import Place


def test_skills_are_listed_with_what_is_wrong_and_no_daemon_is_started(quiet: Place) -> None:
    folder = quiet.home / "project" / ".agents" / "skills"
    for name, text in (("good", "---\nname: good\ndescription: Does good.\n---\n"), ("bad", "nothing")):
        (folder / name).mkdir(parents=True)
        (folder / name / "SKILL.md").write_text(text)
    rows = quiet.json("skills", "-C", str(quiet.home / "project"), "--json")
    assert [(row["name"], row["from"], row["offered"]) for row in rows] == [
        ("bad", "project", False), ("good", "project", True),
    ]  # fmt: skip
    assert "does not begin with front matter" in rows[0]["wrong"]
    assert "not offered: it does not begin" in quiet.run("skills", "-C", str(quiet.home / "project")).stdout
