"""`dataclass` as in the standard library, but frozen and slotted classes get their methods when they are first used.

A command loads about two hundred such classes and uses a few dozen of them. The standard decorator compiles six methods
for each while the module is imported, which was 40 % of the time of a small check. Here a class costs nothing but
itself, until somebody makes, compares or hashes an object: then its methods are compiled, in one piece. Whatever is not
frozen and slotted, or asks for something rare, goes to the standard decorator. docs/adr/0019 has the figures.
"""

from __future__ import annotations

import dataclasses
import inspect
import reprlib
from typing import TYPE_CHECKING, Any

__all__ = ["dataclass"]

if TYPE_CHECKING:
    from dataclasses import dataclass
else:

    def dataclass(cls=None, /, **options):
        """The decorator: for type checkers and for users, the one of the standard library."""
        return (lambda cls: _decorated(cls, options)) if cls is None else _decorated(cls, options)


_KNOWN = {"frozen", "slots", "eq", "repr", "kw_only"}
_RARE = ("ClassVar", "InitVar", "KW_ONLY", "typing.", "dataclasses.")


def _decorated(cls: type, options: dict[str, bool]) -> type:
    annotations = inspect.get_annotations(cls)
    is_rare = any(str(kind).startswith(_RARE) for kind in annotations.values()) or "__init__" in cls.__dict__
    if is_rare or not options.get("frozen") or not options.get("slots") or not options.keys() <= _KNOWN:
        return dataclasses.dataclass(**options)(cls)
    own = {name: _field(cls, name, kind, options) for name, kind in annotations.items()}
    return _with_slots(cls, own, options)


def _field(cls: type, name: str, kind: Any, options: dict[str, bool]) -> Any:
    given = cls.__dict__.get(name, dataclasses.MISSING)
    field: Any = given if isinstance(given, dataclasses.Field) else dataclasses.field(default=given)
    if field.default is not dataclasses.MISSING and field.default.__class__.__hash__ is None:
        raise ValueError(f"mutable default {type(field.default)} for field {name} is not allowed: use default_factory")
    field.name, field.type = name, kind
    field._field_type = dataclasses._FIELD  # type: ignore[attr-defined]
    if field.kw_only is dataclasses.MISSING:
        field.kw_only = options.get("kw_only", False)
    return field


def _with_slots(cls: type, own: dict[str, Any], options: dict[str, bool]) -> type:
    """The class again, with slots: a class cannot get them later."""
    fields: dict[str, Any] = {}
    for base in reversed(cls.__mro__[1:]):
        fields |= base.__dict__.get("__dataclass_fields__", {})
    fields |= own
    taken = {name for base in cls.__mro__[1:] for name in base.__dict__.get("__slots__", ())}
    body = {name: value for name, value in cls.__dict__.items() if name not in own and name not in _NOT_COPIED}
    if "__eq__" in body and body.get("__hash__") is None:
        body.pop("__hash__", None)  # Python's answer to an `__eq__`; a frozen class can have a hash.
    by_position = tuple(one.name for one in fields.values() if one.init and not one.kw_only)
    added = {
        "__slots__": tuple(name for name in own if name not in taken),
        "__dataclass_fields__": fields,
        "__dataclass_params__": _Parameters(),
        "__match_args__": by_position,
        **_methods(options),
    }
    made = type(cls)(cls.__name__, cls.__bases__, added | body)
    made.__qualname__ = cls.__qualname__
    return made


_NOT_COPIED = ("__dict__", "__weakref__")


class _Parameters:
    """What the standard decorator asks of a base class."""

    frozen = True


def _methods(options: dict[str, bool]) -> dict[str, Any]:
    """What a class gets at once: methods that are the same for all, and places for the three that are its own."""
    methods: dict[str, Any] = {**_SAME_FOR_ALL, "__init__": _Late()}
    if options.get("repr", True):
        methods["__repr__"] = _repr
    if options.get("eq", True):
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
