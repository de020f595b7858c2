"""The one clock: time that is up ends plain Python by TimeUp, wherever the alarm finds it."""

from __future__ import annotations

import pytest

from memfence.deadline import Deadline, TimeUp


class SlowToName:
    def __set_name__(self, owner: type, name: str) -> None:
        while True:
            pass


def test_an_alarm_while_a_class_is_made_is_that_alarm() -> None:
    with pytest.raises(TimeUp), Deadline(0.01).enforced(grace=0.0):
        type("Made", (), {"slow": SlowToName()})


def test_other_errors_stay_what_they_are() -> None:
    with pytest.raises(RuntimeError, match="not about time"), Deadline(60.0).enforced():
        raise RuntimeError("not about time")
