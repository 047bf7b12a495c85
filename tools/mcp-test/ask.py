#!/usr/bin/env python3
"""Asks `hprof mcp` by the protocol's own client library.

Usage: ask.py HPROF WORD... -- TOOL[=ARGUMENTS]...
HPROF mcp WORD... is started as any client does it. Each tool is called with its arguments, a JSON object; {id} in them is the id of
the first suspect's accumulation point, once leaks has been asked. Prints one JSON object: protocol, server, tools (their names), and
answers, in order.
"""

import asyncio
import json
import sys

from mcp import ClientSession, StdioServerParameters
from mcp.client.stdio import stdio_client


async def main(command, words, calls):
    server = StdioServerParameters(command=command, args=["mcp", *words])
    async with stdio_client(server) as (reader, writer), ClientSession(reader, writer) as session:
        greeting = await session.initialize()
        tools = (await session.list_tools()).tools
        answers, point = [], ""
        for call in calls:
            tool, _, arguments = call.partition("=")
            arguments = json.loads((arguments or "{}").replace("{id}", point))
            result = await session.call_tool(tool, arguments)
            text = result.content[0].text
            failed = result.is_error
            answers.append({"tool": tool, "bytes": len(text), "failed": failed, "answer": text if failed else json.loads(text)})
            if tool == "leaks" and not failed:
                suspects = answers[-1]["answer"]["suspects"]
                point = suspects[0]["accumulation"]["id"] if suspects else ""
    print(json.dumps({
        "protocol": greeting.protocol_version,
        "server": greeting.server_info.name,
        "tools": [tool.name for tool in tools],
        "answers": answers,
    }))


if __name__ == "__main__":
    split = sys.argv.index("--")
    asyncio.run(main(sys.argv[1], sys.argv[2:split], sys.argv[split + 1:]))
