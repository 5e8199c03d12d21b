"""Fixtures that every test may use, and a warden for the case that the run is killed."""

from tests.support import warden

warden.watch()
