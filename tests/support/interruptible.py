"""Commands that can be interrupted even where the tests cannot: in the background of a shell without job control."""

from __future__ import annotations

import signal
import subprocess
from typing import Any


def start(command: list[str], **options: Any) -> subprocess.Popen[str]:
    """Start the command with the default answer to Ctrl-C: a child inherits it if Ctrl-C is ignored."""
    before = signal.signal(signal.SIGINT, signal.SIG_DFL)
    try:
        return subprocess.Popen(command, text=True, **options)
    finally:
        signal.signal(signal.SIGINT, before)
