"""The refusal of options that mean nothing where they are said: none is ever quietly ignored.

This is the only place that refuses an option for its verb, its models, the language of the program, the question or the
other options. That a value is none at all is found by who reads it.
"""

from __future__ import annotations

from dataclasses import replace

from memfence.models.catalogue import WITHOUT_STATES, states_of
from memfence.tasks.usage import WrongUsage
from memfence.verbs.option import Option
from memfence.verbs.options import option_of
from memfence.verbs.usage import Usage


def refuse_unused(usage: Usage) -> None:
    """WrongUsage for the first option that means nothing here, with the reason and what to use instead."""
    for name in usage.said:
        option = option_of(usage.verb, name)
        problem = None if option is None else obstacle(option, usage)
        if option is not None and problem is not None:
            raise WrongUsage(option.in_python or option.name, problem, typed=option.typed)


def obstacle(option: Option, usage: Usage) -> str | None:
    """Why the option means nothing here; None where it does, as far as is known."""
    return (
        option.never
        or _beside_another(option, usage)
        or _in_several(option, usage)
        or _in_another_language(option, usage)
        or next(filter(None, (rule(usage, usage.said.get(option.name)) for rule in option.rules)), None)
    )


def _beside_another(option: Option, usage: Usage) -> str | None:
    """An option that changes what the verb does, and does not go with this one."""
    for name in usage.said:
        mode = option_of(usage.verb, name)
        if mode is None or mode.goes_with is None or mode is option or not usage.says(name):
            continue
        if option.name not in mode.goes_with:
            return mode.alone
    return None


def _in_several(option: Option, usage: Usage) -> str | None:
    return "it is about one program: give one file" if usage.several and option.one_program else None


def _in_another_language(option: Option, usage: Usage) -> str | None:
    if usage.program is None or not option.languages or usage.program.language in option.languages:
        return None
    from memfence.frontends.catalogue import titles_of

    here = usage.program.language or "a program without a text"
    return f"it means something in {titles_of(option.languages)} only, and this is {here}"


def answered_as(usage: Usage) -> tuple[str, ...]:
    """The models of the usage, where x86 is asked as tso if something is said that only a search of states knows.

    x86 is TSO: the same question, answered by the engines that search states.
    """
    asked = usage.models
    if len(asked) != 1 or states_of(asked[0]) in ("", asked[0]):
        return asked
    without_states = replace(usage, models=WITHOUT_STATES[:1])
    for name in usage.said:
        option = option_of(usage.verb, name)
        if option is not None and obstacle(option, without_states) is not None:
            return (states_of(asked[0]),)
    return asked
