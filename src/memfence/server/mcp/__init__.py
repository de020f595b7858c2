"""memfence as tools of an assistant, by the Model Context Protocol: `catalogue` says what there is, `answering` asks a
confined child process, `server` speaks the protocol. Only `server` imports `mcp`, which the extra `mcp` brings."""
