"""The manual page, written from the help of the commands: `python -m memfence.cli.man > contrib/man/memfence.1`."""

from __future__ import annotations

import re
import sys
from collections.abc import Iterator
from typing import Any

import typer

from memfence.cli.app import VERBS, app
from memfence.cli.exit_codes import MEANINGS
from memfence.cli.main import add_verbs
from memfence.verbs.option import Group
from memfence.verbs.options import option_of


def man_page() -> str:
    """The whole page, in roff."""
    add_verbs([])
    group: Any = typer.main.get_command(app)
    return "\n".join([*_head(group), *_verbs(group), *_exit_codes()]) + "\n"


def _head(group: Any) -> Iterator[str]:
    yield ".TH MEMFENCE 1"
    yield from (".SH NAME", r"memfence \- checks lock-free programs on models of hardware with store buffers")
    yield from (".SH SYNOPSIS", r".B memfence", r".I COMMAND \fR[\fIOPTIONS\fR] ...")
    yield from (".SH DESCRIPTION", *_plain(group.help or ""))


def _verbs(group: Any) -> Iterator[str]:
    yield ".SH COMMANDS"
    for name in VERBS:
        command = group.commands[name]
        yield f".SS {_escaped(name)}"
        yield from _plain(command.help or "")
        yield from _options(name, command)


def _options(verb: str, command: Any) -> Iterator[str]:
    """Those of a command by groups, as its help has them; those of the commands in a list of commands."""
    for name, inner in getattr(command, "commands", {}).items():
        yield from (".PP", f"\\fB{_escaped(f'{verb} {name}')}\\fR:", *_plain(inner.help or ""))
        yield from _options(f"{verb} {name}", inner)
    for group in Group:
        options = [one for one in command.params if _is_listed(one) and _group_of(verb, one) is group]
        if options and group is not Group.EVERYDAY:
            yield from (".PP", f"{_escaped(group.value)}:")
        for option in options:
            yield from _option(option)


def _is_listed(option: Any) -> bool:
    return option.param_type_name == "option" and not option.hidden


def _group_of(verb: str, option: Any) -> Group:
    row = option_of(verb, option.name)
    return Group.EVERYDAY if row is None else row.group


def _option(option: Any) -> Iterator[str]:
    metavar = "" if option.is_flag else f" \\fI{_escaped(option.metavar or option.type.name.upper())}\\fR"
    yield ".TP"
    yield f"\\fB{_escaped(', '.join(option.opts))}\\fR{metavar}"
    yield _escaped(option.help or "")


def _exit_codes() -> Iterator[str]:
    yield ".SH EXIT STATUS"
    for code, meaning in MEANINGS.items():
        yield from (".TP", str(int(code)), meaning)


def _plain(text: str) -> Iterator[str]:
    for number, paragraph in enumerate(re.split(r"\n\s*\n", text.strip())):
        if number:
            yield ".PP"
        yield _escaped(" ".join(paragraph.split()))


def _escaped(text: str) -> str:
    text = text.replace("\\", r"\e").replace("-", r"\-")
    return f"\\&{text}" if text[:1] in (".", "'") else text


if __name__ == "__main__":
    sys.stdout.write(man_page())
