"""Who may ask: browsers on this machine, by the link that was printed when the page was started.

The link holds a token that is another one at every start. It is a part of the path rather than a cookie: a cookie of
`localhost` goes to every other server on this machine, too.
"""

from __future__ import annotations

import secrets
from typing import Any

HOSTS = ("localhost", "127.0.0.1", "[::1]", "::1")
REFUSED = b"memfence ui: open the link that the command printed. It is another one at every start.\n"


def new_token() -> str:
    return secrets.token_urlsafe(18)


class OnlyThisMachine:
    """Refuse whoever does not know the link, reached the page under a name that is not this machine's, or asks from
    another page: a site elsewhere that points its name to this machine, another server on it."""

    def __init__(self, inner: Any, token: str) -> None:
        self.inner = inner
        self.prefix = f"/{token}"

    async def __call__(self, scope: Any, receive: Any, send: Any) -> None:
        """Answer, or refuse."""
        if scope["type"] not in ("http", "websocket"):
            await self.inner(scope, receive, send)
        elif _is_local(scope) and self._knows_link(scope["path"]):
            await self.inner({**scope, "root_path": self.prefix}, receive, send)
        elif scope["type"] == "http":
            headers = [(b"content-type", b"text/plain; charset=utf-8")]
            await send({"type": "http.response.start", "status": 403, "headers": headers})
            await send({"type": "http.response.body", "body": REFUSED})
        else:
            await send({"type": "websocket.close", "code": 1008})

    def _knows_link(self, path: str) -> bool:
        begun, slash = path[: len(self.prefix)], path[len(self.prefix) : len(self.prefix) + 1]
        return secrets.compare_digest(begun.encode(), self.prefix.encode()) and slash in ("", "/")


def _is_local(scope: Any) -> bool:
    headers = {name: value.decode("latin-1") for name, value in scope["headers"]}
    host, origin = headers.get(b"host", ""), headers.get(b"origin", "")
    return _name(host) in HOSTS and origin in ("", f"http://{host}")


def _name(host: str) -> str:
    return host if host.startswith("[") and "]:" not in host else host.rsplit(":", 1)[0] if ":" in host else host
