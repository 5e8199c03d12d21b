"""An MCP server over stdio with one tool, `judges_tool`, to be given to an agent."""

import json
import sys

TOOL = {"name": "judges_tool", "description": "Judges.", "inputSchema": {"type": "object", "properties": {}}}

for line in sys.stdin:
    asked = json.loads(line)
    if "id" not in asked or "method" not in asked:
        continue
    match asked["method"]:
        case "initialize":
            version = asked["params"]["protocolVersion"]
            info = {"name": "judges", "version": "1"}
            answer = {"result": {"protocolVersion": version, "capabilities": {"tools": {}}, "serverInfo": info}}
        case "tools/list":
            answer = {"result": {"tools": [TOOL]}}
        case "tools/call":
            answer = {"result": {"content": [{"type": "text", "text": "judged"}]}}
        case "ping":
            answer = {"result": {}}
        case _:
            answer = {"error": {"code": -32601, "message": "not offered"}}
    print(json.dumps({"jsonrpc": "2.0", "id": asked["id"], **answer}), flush=True)
