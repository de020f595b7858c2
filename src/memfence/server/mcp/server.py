"""The protocol: lists the tools, and calls them. It speaks on standard input and output, and nowhere else."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from mcp import types
from mcp.server.lowlevel import Server
from mcp.server.stdio import stdio_server

from memfence.server.mcp.answering import answered
from memfence.server.mcp.catalogue import TOOLS
from memfence.version import VERSION

INSTRUCTIONS = (
    "memfence proves or refutes lock-free code under memory models. Call `check` after every change of an order or "
    "fence, and believe only `holds`. It reads files of the working folder, and writes none."
)


def make_server(root: Path) -> Any:
    """The server for the files of one folder."""

    async def list_tools(context: Any, params: Any) -> Any:
        return types.ListToolsResult(
            tools=[
                types.Tool(
                    name=tool.name,
                    description=tool.about,
                    inputSchema=tool.input_schema,
                    outputSchema=tool.output_schema,
                )
                for tool in TOOLS
            ]
        )

    async def call_tool(context: Any, params: Any) -> Any:
        found = await answered(params.name, dict(params.arguments or {}), root)
        return types.CallToolResult(
            content=[types.TextContent(type="text", text=found.text)],
            structuredContent=found.data,
            isError=found.is_error,
        )

    return Server(
        "memfence", version=VERSION, instructions=INSTRUCTIONS, on_list_tools=list_tools, on_call_tool=call_tool
    )


async def serve(root: Path) -> None:
    """Answer until standard input ends."""
    server = make_server(root)
    async with stdio_server() as (read, write):
        await server.run(read, write, server.create_initialization_options())
