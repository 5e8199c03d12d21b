"""One report of all faults that were tried, which the long run writes down. A plugin, because of several workers:

who starts them collects no tests, so a conftest of a folder would not be heard there.
"""

from typing import Any, cast

import pytest

from tests.faults.report import PAGE, Report, Row

REPORT = Report()
ROW = "fault"


def pytest_addoption(parser: pytest.Parser) -> None:
    parser.addoption("--add-to-report", action="store_true", help="the page keeps what the run before has written")


def pytest_runtest_logreport(report: pytest.TestReport) -> None:
    """Collect the outcome of the whole run; with several workers only their controller sees it."""
    if report.failed:
        REPORT.failed.append(report.nodeid)
    elif report.when == "call" and report.passed:
        REPORT.passed.add(report.nodeid)
    if report.when == "teardown":
        REPORT.rows += [Row(**cast("dict[str, Any]", told)) for name, told in report.user_properties if name == ROW]


def pytest_terminal_summary(terminalreporter: pytest.TerminalReporter) -> None:
    if REPORT.rows:
        terminalreporter.section("faults")
        for row in sorted(REPORT.rows, key=lambda row: row.letter):
            terminalreporter.line(row.line())


def pytest_sessionfinish(session: pytest.Session, exitstatus: int) -> None:
    worker = hasattr(session.config, "workerinput")
    finished = exitstatus in {pytest.ExitCode.OK, pytest.ExitCode.TESTS_FAILED}
    if session.config.getoption("--add-to-report") and PAGE.exists() and not worker:
        REPORT.take_from(PAGE.read_text(encoding="utf-8"))
    if finished and REPORT.whole and not worker:
        PAGE.write_text(REPORT.page(), encoding="utf-8")
