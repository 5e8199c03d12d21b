"""The expected report of a client from elsewhere, whichever SDK wrote it."""

from typing import Any

from transports.dialects.mcp.protocol.introduction import LISTED_TOOLS

Json = dict[str, Any]


def approve_of(report: Json) -> None:
    assert report["server"]["name"] == "codex-mcp-server"
    assert {"tools", "resources", "prompts", "completions"} <= set(report["capabilities"])
    assert report["tools"] == list(LISTED_TOOLS)
    _turns(report)
    _cancelling(report)
    _resources(report)


def said(result: Json) -> str:
    """Assert the same in text and structure; the SDKs check the structure against the tool's schema."""
    content, link = result["content"]
    assert content["type"] == "text"
    assert result["structuredContent"]["threadId"] in (link.get("uri") or link["text"])
    assert result["structuredContent"]["content"] == content["text"]
    assert not result.get("isError")
    return str(content["text"])


def _turns(report: Json) -> None:
    assert said(report["first"]) == "done"
    assert said(report["reply"]) == "again"
    (question,) = report["asked"]
    assert "touch judged" in question
    steps = [one["progress"] for one in report["progress"]]
    assert len(steps) >= 2
    assert steps == sorted(set(steps)), report["progress"]
    assert all(one["message"] for one in report["progress"])


def _cancelling(report: Json) -> None:
    """Check a cancelled call: the SDK drops it by itself, and the next call must be answered."""
    assert "answer" not in report["cancelled"]
    assert said(report["after"]) == "still here"


def _resources(report: Json) -> None:
    assert report["uri"] in report["resources"]
    assert "greenroom://conversation/{id}" in report["templates"]
    (content,) = report["read"]
    assert content["uri"] == report["uri"]
    assert "still here" in content["text"]
    assert report["updated"] >= 1
    thread = report["uri"].rpartition("/")[2]
    assert thread in report["completed"]["values"]
    assert thread in [row["threadId"] for row in report["listed"]["conversations"]]
    unknown = report["unknown"]
    assert unknown["answer"]["isError"] is True
    assert "Unknown tool 'no_such_tool'" in unknown["answer"]["content"][0]["text"]
    assert "answer" not in report["prompts"] or report["prompts"]["answer"]["prompts"] == []
