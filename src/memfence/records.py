"""`Record`, the base of values: frozen, with slots, and fields that the class lists as a dataclass does.

    class Point(Record):
        x: int
        y: int = 0

Options are keywords of the class: `eq=False` (an object equals only itself), `repr=False`, `kw_only=True`. `replace`,
`fields`, `asdict` and `field` of the standard library and the patterns of `match` work; type checkers know all that.

Methods are compiled when a class is first used. A command loads about two hundred records and uses a few dozen of them.
The decorator of the standard library compiles six methods for each while the module is imported, which was 40 % of the
time of a small check. docs/adr/0019 has the figures.
"""

from __future__ import annotations

import dataclasses
import reprlib
from typing import Any, dataclass_transform

__all__ = ["Record"]

_NO_FIELD = ("ClassVar", "typing.ClassVar")


@dataclass_transform(frozen_default=True, field_specifiers=(dataclasses.field,))
class _RecordType(type):
    """Makes the classes. Fields become slots before the class exists: it cannot get them later."""

    def __new__(cls, name: str, bases: tuple[type, ...], body: dict[str, Any], **options: bool) -> _RecordType:
        own = _own_fields(body, options.get("kw_only", False))
        inherited: dict[str, Any] = {}
        for base in reversed(bases):
            inherited |= getattr(base, "__dataclass_fields__", {})
        fields = inherited | own
        if "__eq__" in body and body.get("__hash__") is None:
            body.pop("__hash__", None)  # Python's answer to an `__eq__`; a frozen class can have a hash.
        added = {
            "__slots__": tuple(field for field in own if field not in inherited),
            "__dataclass_fields__": fields,
            "__dataclass_params__": _Parameters(),
            "__match_args__": tuple(one.name for one in fields.values() if one.init and not one.kw_only),
            **_methods(**{key: value for key, value in options.items() if key != "kw_only"}),
        }
        return super().__new__(cls, name, bases, added | {key: value for key, value in body.items() if key not in own})

    def __init__(self, name: str, bases: tuple[type, ...], body: dict[str, Any], **options: bool) -> None:
        super().__init__(name, bases, body)


def _own_fields(body: dict[str, Any], kw_only: bool) -> dict[str, Any]:
    kinds = body.get("__annotations__", {}).items()
    return {name: _field(body, name, kind, kw_only) for name, kind in kinds if not str(kind).startswith(_NO_FIELD)}


def _field(body: dict[str, Any], name: str, kind: Any, kw_only: bool) -> Any:
    given = body.get(name, dataclasses.MISSING)
    field: Any = given if isinstance(given, dataclasses.Field) else dataclasses.field(default=given)
    if field.default is not dataclasses.MISSING and field.default.__class__.__hash__ is None:
        raise ValueError(f"mutable default {type(field.default)} for field {name} is not allowed: use default_factory")
    field.name, field.type = name, kind
    field._field_type = dataclasses._FIELD  # type: ignore[attr-defined]
    if field.kw_only is dataclasses.MISSING:
        field.kw_only = kw_only
    return field


class _Parameters:
    """What the standard library asks of a dataclass that is a base."""

    frozen = True


def _methods(*, eq: bool = True, repr: bool = True) -> dict[str, Any]:
    """What a class gets at once: methods that are the same for all, and places for the three that are its own."""
    methods: dict[str, Any] = {**_SAME_FOR_ALL, "__init__": _Late()}
    if repr:
        methods["__repr__"] = _repr
    if eq:
        methods |= {"__eq__": _Late(), "__hash__": _Late()}
    return methods


class _Late:
    """Stands for a method until somebody asks for it; then all three are compiled and take their places."""

    __slots__ = ("name", "owner")

    owner: type
    name: str

    def __set_name__(self, owner: type, name: str) -> None:
        self.owner, self.name = owner, name

    def __get__(self, instance: object, owner: type) -> Any:
        for name, method in _compiled(self.owner).items():
            if isinstance(self.owner.__dict__.get(name), _Late):
                setattr(self.owner, name, method)
        return self.owner.__dict__[self.name].__get__(instance, owner)


def _compiled(cls: type) -> dict[str, Any]:
    fields: list[Any] = list(cls.__dict__["__dataclass_fields__"].values())
    names: dict[str, Any] = {"_default": object()}
    text = "\n".join((_init_text(cls, fields, names), _eq_text(fields), _hash_text(fields)))
    made: dict[str, Any] = {}
    exec(text, names, made)
    for name, method in made.items():
        method.__qualname__, method.__module__ = f"{cls.__qualname__}.{name}", cls.__module__
    return made


def _init_text(cls: type, fields: list[Any], names: dict[str, Any]) -> str:
    """A value goes straight into its slot, past the `__setattr__` that keeps others out."""
    positional, keyword = ["self"], list[str]()
    lines = list[str]()
    for one in fields:
        has_default = one.default is not dataclasses.MISSING
        has_factory = one.default_factory is not dataclasses.MISSING
        names[f"_set_{one.name}"] = getattr(cls, one.name).__set__
        names[f"_of_{one.name}"] = one.default_factory if has_factory else one.default
        if one.init:
            default = f"=_of_{one.name}" if has_default else "=_default" if has_factory else ""
            (keyword if one.kw_only else positional).append(one.name + default)
        value = one.name if one.init else f"_of_{one.name}"
        if has_factory:
            value = f"_of_{one.name}()" + (f" if {one.name} is _default else {one.name}" if one.init else "")
        if one.init or has_default or has_factory:
            lines.append(f"  _set_{one.name}(self, {value})")
    if hasattr(cls, "__post_init__"):
        lines.append("  self.__post_init__()")
    parameters = ", ".join([*positional, "*", *keyword] if keyword else positional)
    return f"def __init__({parameters}):\n" + ("\n".join(lines) or "  pass")


def _eq_text(fields: list[Any]) -> str:
    mine, its = (_tuple_text(side, [one for one in fields if one.compare]) for side in ("self", "other"))
    return (
        f"def __eq__(self, other):\n  return {mine} == {its} if other.__class__ is self.__class__ else NotImplemented"
    )


def _hash_text(fields: list[Any]) -> str:
    hashed = [one for one in fields if (one.compare if one.hash is None else one.hash)]
    return f"def __hash__(self):\n  return hash({_tuple_text('self', hashed)})"


def _tuple_text(side: str, fields: list[Any]) -> str:
    return "(" + "".join(f"{side}.{one.name}, " for one in fields) + ")"


@reprlib.recursive_repr()
def _repr(self: Any) -> str:
    shown = (f"{one.name}={getattr(self, one.name)!r}" for one in dataclasses.fields(self) if one.repr)
    return f"{type(self).__qualname__}({', '.join(shown)})"


def _refuse_setting(self: Any, name: str, value: object) -> None:
    raise dataclasses.FrozenInstanceError(f"cannot assign to field {name!r}")


def _refuse_deleting(self: Any, name: str) -> None:
    raise dataclasses.FrozenInstanceError(f"cannot delete field {name!r}")


def _state(self: Any) -> list[Any]:
    return [getattr(self, one.name) for one in dataclasses.fields(self)]


def _set_state(self: Any, state: list[Any]) -> None:
    for one, value in zip(dataclasses.fields(self), state, strict=True):
        object.__setattr__(self, one.name, value)


_SAME_FOR_ALL = {
    "__setattr__": _refuse_setting,
    "__delattr__": _refuse_deleting,
    "__getstate__": _state,
    "__setstate__": _set_state,
    "__replace__": dataclasses.replace,
}


class Record(metaclass=_RecordType, eq=False, repr=False):
    """A value: its fields are set once, and it equals every other value of its class with equal fields."""
