"""Calls of foreign code that may take long: made in a thread of their own, so that the caller can give up waiting."""

from __future__ import annotations

import threading
from collections.abc import Callable
from typing import Generic, TypeVar

from memfence.safe_points import uninterrupted

T = TypeVar("T")


def call_and_wait(call: Callable[[], T], interrupt: Callable[[], None]) -> T:
    """What `call` returns. An alarm or Ctrl-C ends the waiting: then `interrupt` asks the call to end, and it has ended
    before the exception goes on.

    Only the main thread sees signals, so that elsewhere the call is made at once.
    """
    if threading.current_thread() is not threading.main_thread():
        return call()
    made = _Call(call)
    try:
        made.start()
        made.running.acquire()
    except BaseException:
        made.end(interrupt)
        raise
    return made.result()


class _Call(Generic[T]):
    """The call and what came of it. `running`: locked until it is over."""

    def __init__(self, call: Callable[[], T]) -> None:
        self._call = call
        self._result: list[T] = []
        self._error: BaseException | None = None
        self._has_started = self._is_over = False
        self.running = threading.Lock()
        self.running.acquire()

    @uninterrupted
    def start(self) -> None:
        threading.Thread(target=self._run, daemon=True).start()
        self._has_started = True

    def _run(self) -> None:
        try:
            self._result.append(self._call())
        except BaseException as error:
            self._error = error
        finally:
            self._is_over = True
            self.running.release()

    @uninterrupted
    def end(self, interrupt: Callable[[], None]) -> None:
        if self._has_started and not self._is_over:
            interrupt()
            self.running.acquire()

    def result(self) -> T:
        if self._error is not None:
            raise self._error
        return self._result[0]
