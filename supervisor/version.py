"""The version of this program; standard library only, because everyday verbs show it too."""

VERSION = "0.2.0"
