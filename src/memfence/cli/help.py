"""Help that lists the options of a command by groups."""

from __future__ import annotations

from typing import Any

from typer.core import TyperCommand

from memfence.verbs.option import Group
from memfence.verbs.options import option_of


class Command(TyperCommand):
    """A command whose help lists its options by groups, the everyday ones first."""

    def format_options(self, ctx: Any, formatter: Any) -> None:
        verb = ctx.command_path.partition(" ")[2]
        arguments: list[tuple[str, str]] = []
        groups: dict[Group, list[tuple[str, str]]] = {group: [] for group in Group}
        for parameter in self.get_params(ctx):
            shown = parameter.get_help_record(ctx)
            option = option_of(verb, parameter.name or "")
            if shown is not None:
                is_argument = parameter.param_type_name == "argument"
                group = groups[Group.EVERYDAY if option is None else option.group]
                (arguments if is_argument else group).append(shown)
        for title, lines in (("Arguments", arguments), *((group.value, lines) for group, lines in groups.items())):
            if lines:
                with formatter.section(title):
                    formatter.write_dl(lines)
