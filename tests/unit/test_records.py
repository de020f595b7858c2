"""`memfence.records.Record` against the standard decorator, its slow twin: the same classes, the same behaviour."""

from __future__ import annotations

import copy
import dataclasses
import inspect
import pickle
from collections.abc import Callable
from dataclasses import field
from types import SimpleNamespace
from typing import Any, ClassVar, Generic, TypeVar

import pytest

from memfence.records import Record, _Late

T = TypeVar("T")


def recorded(*, frozen: bool = True, slots: bool = True, **options: bool) -> Callable[[type], type]:
    """Stands for the decorator: a record with the body and the bases of the class."""

    def make(cls: type) -> type:
        body = {name: value for name, value in vars(cls).items() if name not in ("__dict__", "__weakref__")}
        body["__qualname__"] = cls.__qualname__
        bases = tuple(base for base in cls.__bases__ if base is not object)
        is_record = any(isinstance(base, type(Record)) for base in bases)
        return type(Record)(cls.__name__, bases if is_record else (Record, *bases), body, **options)

    return make


def family(decorator: Callable[..., Any]) -> SimpleNamespace:
    """One class for each form that the package uses."""

    @decorator(frozen=True, slots=True)
    class Empty:
        pass

    @decorator(frozen=True, slots=True)
    class Point:
        x: int
        y: int = 2
        place: str = field(default="here", compare=False, repr=False)

        @property
        def sum(self) -> int:
            return self.x + self.y

    @decorator(frozen=True, slots=True)
    class Point3(Point):
        z: list[int] = field(default_factory=list, compare=False)
        w: int = field(default=7, kw_only=True)

    @decorator(frozen=True, slots=True)
    class Overriding(Point):
        y: int = 5

        def __repr__(self) -> str:
            return "short"

    @decorator(frozen=True, slots=True, eq=False)
    class Identity:
        x: int

    @decorator(frozen=True, slots=True, kw_only=True, repr=False)
    class Named(Generic[T]):
        x: T
        first: int = field(default=1, init=False)
        many: dict[str, int] = field(default_factory=dict, init=False)

    @decorator(frozen=True, slots=True)
    class Checked:
        x: int

        def __post_init__(self) -> None:
            if self.x < 0:
                raise ValueError("negative")

    @decorator(frozen=True, slots=True)
    class OwnEquality:
        x: int

        def __eq__(self, other: object) -> bool:
            return True

    @decorator(frozen=True, slots=True)
    class OwnHash:
        x: int
        y: int = field(default=0, hash=False)

        def __hash__(self) -> int:
            return 5

    classes = {name: kind for name, kind in locals().items() if isinstance(kind, type)}
    return SimpleNamespace(**classes)


OURS, THEIRS = family(recorded), family(dataclasses.dataclass)
NAMES = sorted(vars(OURS))
ARGUMENTS: list[tuple[tuple[Any, ...], dict[str, Any]]] = [
    ((), {}),
    ((1,), {}),
    ((1, 2), {}),
    ((1, 3), {"place": "there"}),
    ((-1,), {}),
    ((), {"x": 1}),
    ((), {"x": 1, "y": 5}),
    ((1, 2, "here", [1]), {"w": 8}),
    ((1, 2, "here", [2]), {}),
    ((1, 2, "here", [2], 8), {}),
    ((), {"unknown": 1}),
]


def outcome(action: Callable[..., object], *words: Any, **keys: Any) -> object:
    try:
        return action(*words, **keys)
    except Exception as problem:
        return type(problem)


def objects(of: SimpleNamespace) -> list[Any]:
    return [outcome(getattr(of, name), *words, **keys) for name in NAMES for words, keys in ARGUMENTS]


def values(thing: Any) -> object:
    return thing if isinstance(thing, type) else [getattr(thing, one.name) for one in dataclasses.fields(thing)]


def test_objects_are_made_of_the_same_arguments() -> None:
    ours, theirs = objects(OURS), objects(THEIRS)
    assert [values(one) for one in ours] == [values(one) for one in theirs]
    assert sum(not isinstance(one, type) for one in ours) > 20
    assert sum(one is TypeError for one in ours) > 10 and sum(one is ValueError for one in ours) == 1


def test_comparison_hash_and_text_are_the_same() -> None:
    ours, theirs = objects(OURS), objects(THEIRS)
    for one, other in zip(ours, theirs, strict=True):
        if isinstance(one, type):
            continue
        assert [one == each for each in ours] == [other == each for each in theirs]
        if type(one).__hash__ is not object.__hash__:
            assert outcome(hash, one) == outcome(hash, other)
        if type(one).__repr__ is not object.__repr__:
            assert repr(one) == repr(other)


@pytest.mark.parametrize("name", NAMES)
def test_a_class_says_the_same_of_itself(name: str) -> None:
    ours, theirs = getattr(OURS, name), getattr(THEIRS, name)
    assert [vars_of(one) for one in dataclasses.fields(ours)] == [vars_of(one) for one in dataclasses.fields(theirs)]
    assert ours.__match_args__ == theirs.__match_args__ and ours.__slots__ == theirs.__slots__
    assert list(inspect.signature(ours).parameters) == list(inspect.signature(theirs).parameters)
    assert ours.__qualname__ == theirs.__qualname__ and ours.__module__ == theirs.__module__
    assert dataclasses.is_dataclass(ours)


def vars_of(one: dataclasses.Field[Any]) -> tuple[object, ...]:
    return (
        one.name,
        one.type,
        one.default,
        one.default_factory,
        one.init,
        one.repr,
        one.compare,
        one.hash,
        one.kw_only,
    )


def test_nobody_changes_an_object() -> None:
    for of in (OURS, THEIRS):
        point = of.Point(1)
        with pytest.raises(dataclasses.FrozenInstanceError):
            point.x = 2
        with pytest.raises(dataclasses.FrozenInstanceError):
            del point.x
        assert not hasattr(point, "__dict__") and point.sum == 3


class Kept(Record):
    x: int
    rest: tuple[int, ...] = ()


def test_objects_travel_and_are_replaced() -> None:
    assert pickle.loads(pickle.dumps(Kept(1, (2,)))) == Kept(1, (2,)) == copy.deepcopy(Kept(1, (2,)))
    assert dataclasses.replace(OURS.Point3(1, w=3), y=4) == OURS.Point3(1, 4, w=3)
    assert dataclasses.asdict(Kept(1)) == {"x": 1, "rest": ()}


def test_a_record_has_no_other_fields_than_those_it_lists() -> None:
    class Counted(Record):
        x: int
        made: ClassVar[int] = 0

        def doubled(self) -> int:
            return super().__hash__() * 0 + 2 * self.x

    assert [one.name for one in dataclasses.fields(Counted(3))] == ["x"] and Counted(3).doubled() == 6
    assert Counted.made == 0 and not hasattr(Counted(3), "__dict__")


def test_methods_are_compiled_at_their_first_use_only() -> None:
    kind = family(recorded).Point
    assert isinstance(kind.__dict__["__init__"], _Late) and isinstance(kind.__dict__["__hash__"], _Late)
    kind(1)
    assert not isinstance(kind.__dict__["__init__"], _Late) and not isinstance(kind.__dict__["__hash__"], _Late)


def test_a_default_that_can_change_is_refused() -> None:
    body = {"__annotations__": {"x": "list[int]"}, "x": []}
    for decorator in (recorded, dataclasses.dataclass):
        with pytest.raises(ValueError, match="mutable default"):
            decorator(frozen=True, slots=True)(type("Bad", (), dict(body)))
