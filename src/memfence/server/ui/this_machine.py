"""Who may ask: browsers on this machine that know the page by a name of this machine."""

from __future__ import annotations

from typing import Any

HOSTS = ("localhost", "127.0.0.1", "[::1]", "::1")


class OnlyThisMachine:
    """Refuse whoever reached the page under another name: a site elsewhere that points its name to this machine."""

    def __init__(self, inner: Any) -> None:
        self.inner = inner

    async def __call__(self, scope: Any, receive: Any, send: Any) -> None:
        """Answer, or refuse."""
        if scope["type"] in ("http", "websocket") and not _is_local(scope):
            if scope["type"] == "http":
                await send({"type": "http.response.start", "status": 403, "headers": []})
                await send({"type": "http.response.body", "body": b"only from this machine"})
            else:
                await send({"type": "websocket.close", "code": 1008})
            return
        await self.inner(scope, receive, send)


def _is_local(scope: Any) -> bool:
    headers = {name: value.decode("latin-1") for name, value in scope["headers"]}
    host = headers.get(b"host", "")
    origin = headers.get(b"origin", "")
    return _name(host) in HOSTS and (not origin or _name(origin.partition("://")[2]) in HOSTS)


def _name(host: str) -> str:
    return host if host.startswith("[") and "]:" not in host else host.rsplit(":", 1)[0] if ":" in host else host
