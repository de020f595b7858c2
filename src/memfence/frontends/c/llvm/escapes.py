"""LLVM's quoted strings: a backslash and two hexadecimal digits are a byte, and two backslashes are one."""

from __future__ import annotations

import re

ESCAPE = re.compile(rb"\\(\\|[0-9A-Fa-f]{2})")


def bytes_of(text: str) -> bytes:
    """What stands between the quotes, as bytes."""
    return ESCAPE.sub(lambda found: b"\\" if found[1] == b"\\" else bytes.fromhex(found[1].decode()), text.encode())


def text_of(text: str) -> str:
    """What stands between the quotes, as a text: names and paths are UTF-8, and other bytes stay escaped."""
    return bytes_of(text).decode("utf-8", "backslashreplace") if "\\" in text else text
