"""The language server: `documents` knows what was found about each text, `views` turns it into the protocol's values,
`server` answers the editor. Only `server` and `views` import pygls and lsprotocol, which the extra `lsp` brings."""
