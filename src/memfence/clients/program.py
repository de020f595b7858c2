"""The text of a client: a program in C or C++ that stands alone beside the files of the object.

Each result has a variable of its own, `r1_2` for the second call of the first thread. At the end the program asserts
that some order of the calls gives these results.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from os.path import relpath
from pathlib import PurePath

from memfence.clients.order import Order
from memfence.clients.specification import Call, Client, Operation, Specification, client_text
from memfence.records import Record

OBSERVED = "observed"
"""The variable of what is observed at the end."""
CHECK = "is_outcome_of_some_order"


MOST_IN_A_ROW = 16
"""So many ways stand in one line of the assertion."""


class Hooks(Record):
    """What else stands around the threads and the calls: the program that runs them in a given order uses it."""

    head: str = ""
    before_call: str = ""
    after_call: str = ""


class Seen(Record):
    """Where a call looks how many calls of another thread had returned before it began."""

    thread: int
    call: int
    other: int

    @property
    def variable(self) -> str:
        return f"seen{self.thread}_{self.call}_{self.other}"


def result_name(thread: int, call: int) -> str:
    """The variable of the result, counted from 1."""
    return f"r{thread}_{call}"


def result_names(specification: Specification, client: Client) -> tuple[str, ...]:
    """The variables of an outcome: of calls that return something, thread by thread, then what is observed."""
    returned = (
        result_name(thread, number)
        for thread, calls in enumerate(client.threads, 1)
        for number, call in enumerate(calls, 1)
        if specification.operations[call.operation].returns
    )
    return (*returned, *((OBSERVED,) if specification.observed else ()))


def looks(client: Client) -> Iterator[Seen]:
    """Every look at another thread, where the order of calls in time counts."""
    for thread, calls in enumerate(client.threads, 1):
        for number in range(1, len(calls) + 1):
            yield from (Seen(thread, number, other) for other in range(1, len(client.threads) + 1) if other != thread)


def client_program(
    specification: Specification, client: Client, orders: Sequence[Order], *, in_time: bool = False
) -> str:
    """The program that fails if the outcome is that of none of the orders.

    `in_time`: calls that had returned before another one began come first in the order, too.
    """
    names = result_names(specification, client)
    lines = [
        *_head(specification, client, specification.includes),
        *_threads(specification, client, Hooks(), in_time=in_time),
        *_main(specification, client),
        *_compared(client, names, orders, in_time=in_time),
        *_statements(specification.after),
        "    return 0;",
        "}",
    ]
    return "\n".join(lines) + "\n"


def ordered_program(specification: Specification, client: Client, includes: Sequence[str], hooks: Hooks) -> str:
    """The program whose threads call one after the other, as the hooks say; `finish` gets the results."""
    names = result_names(specification, client)
    lines = [
        *hooks.head.splitlines(),
        *_head(specification, client, includes),
        *_threads(specification, client, hooks),
        *(line.replace("int main(void)", "static void one_order(void)") for line in _main(specification, client)),
        f"    const long long results[] = {{{', '.join((*names, '0'))}}};",
        f"    memfence_finish(results, {len(names)});",
        "}",
        *ORDERED_MAIN.splitlines(),
    ]
    return "\n".join(lines) + "\n"


ORDERED_MAIN = """
int main(int count, char **orders)
{
    return memfence_run_orders(count - 1, orders + 1, one_order);
}"""


def _head(specification: Specification, client: Client, includes: Iterable[str]) -> list[str]:
    """The object, and the variables of the results."""
    names = result_names(specification, client)
    returned = [name for name in names if name != OBSERVED]
    results = [f"static long long {', '.join(returned)};"] if returned else []
    results += [f"static volatile long long {OBSERVED};"] if specification.observed else []  # it is to be seen in runs
    hidden = ["#define main main_beside_the_object", *map("#include {}".format, includes), "#undef main"]
    return [
        f"/* A client of `{specification.name}`: {client_text(specification, client)} */",
        *hidden,
        "#include <assert.h>",
        "#include <pthread.h>",
        "",
        *([specification.declaration] if specification.declaration else []),
        *results,
        "",
    ]


def _threads(specification: Specification, client: Client, hooks: Hooks, *, in_time: bool = False) -> Iterator[str]:
    if in_time:
        yield f"static int {', '.join(f'returned{number}' for number, _ in enumerate(client.threads, 1))};"
        yield f"static int {', '.join(look.variable for look in looks(client))};"
        yield ""
    for thread, calls in enumerate(client.threads, 1):
        yield f"static void *thread{thread}(void *unused)"
        yield "{"
        yield "    (void)unused;"
        yield from _statements(specification.per_thread)
        for number, call in enumerate(calls, 1):
            if in_time:
                yield from _looking(client, thread, number)
            yield from _call(specification, call, thread, number, hooks)
            if in_time:
                yield f"    __atomic_store_n(&returned{thread}, {number}, __ATOMIC_RELEASE);"
        yield "    return 0;"
        yield "}"
        yield ""


def _looking(client: Client, thread: int, number: int) -> Iterator[str]:
    for look in looks(client):
        if (look.thread, look.call) == (thread, number):
            yield f"    {look.variable} = __atomic_load_n(&returned{look.other}, __ATOMIC_ACQUIRE);"


def _call(specification: Specification, call: Call, thread: int, number: int, hooks: Hooks) -> Iterator[str]:
    operation = specification.operations[call.operation]
    place = {"thread": thread, "call": number}
    yield "    {"
    for parameter, value in zip(operation.parameters, call.arguments, strict=True):
        yield f"        const {parameter.kind} {parameter.name} = {value};"
    if hooks.before_call:
        yield "        " + hooks.before_call % place
    result = result_name(thread, number)
    skipped = hooks.before_call and operation.fails_as is not None
    if skipped:
        yield f"        if (memfence_fails_here()) {result} = {operation.fails_as}; else"
    yield f"        {_assigned(operation, result)}"
    if hooks.after_call:
        yield "        " + hooks.after_call % place
    yield "    }"


def _assigned(operation: Operation, result: str) -> str:
    code = operation.code.rstrip(";")
    return f"{result} = (long long)({code});" if operation.returns else f"{{ {code}; }}"


def _main(specification: Specification, client: Client) -> Iterator[str]:
    count = len(client.threads)
    yield "int main(void)"
    yield "{"
    yield f"    pthread_t threads[{count}];"
    yield from _statements(specification.before)
    for thread in range(count):
        yield f"    pthread_create(&threads[{thread}], 0, thread{thread + 1}, 0);"
    for thread in range(count):
        yield f"    pthread_join(threads[{thread}], 0);"
    if specification.observed:
        yield f"    {OBSERVED} = (long long)({specification.observed});"


def _statements(code: str) -> list[str]:
    return [f"    {code.rstrip(';')};"] if code else []


def _compared(client: Client, names: Sequence[str], orders: Sequence[Order], *, in_time: bool) -> Iterator[str]:
    """The assertion: the results are those of an order, and nobody saw that it was another one."""
    for name in names:
        yield f"    const long long {name}_was = {name};"
    seen = list(looks(client)) if in_time else []
    for look in seen:
        yield f"    const int {look.variable}_was = {look.variable};"
    ways = dict.fromkeys(_way(names, order, seen) for order in orders)
    whole = _any_of(list(ways)) or "0"
    yield f"    const int {CHECK} =\n        {whole};"
    yield f"    assert({CHECK});"


def _any_of(ways: Sequence[str]) -> str:
    """One of them; many are a tree, since those who read expressions do not like deep ones."""
    if len(ways) <= MOST_IN_A_ROW:
        return "\n        | ".join(ways)
    half = len(ways) // 2
    return f"({_any_of(ways[:half])})\n        | ({_any_of(ways[half:])})"


def _way(names: Sequence[str], order: Order, seen: Sequence[Seen]) -> str:
    assert order.outcome is not None
    same = [f"({name}_was == {value})" for name, value in zip(names, order.outcome, strict=True)]
    before = [f"({look.variable}_was <= {order.calls_before(look.thread, look.call, look.other)})" for look in seen]
    return f"({' & '.join([*same, *before]) or '1'})"


def is_cpp_object(specification: Specification) -> bool:
    """Whether clients are C++."""
    return specification.language == "c++"


def client_path(specification: Specification) -> PurePath:
    """Where the client would stand: beside the description, so that quoted includes are found."""
    ending = ".cpp" if is_cpp_object(specification) else ".c"
    return PurePath(specification.source.path).with_name(f"client_of_{specification.name}{ending}")


def for_file(program: str, specification: Specification, path: PurePath) -> str:
    """The text of a client as it can stand in that file: its includes name the object's files from there."""
    here = PurePath(specification.source.path).parent
    for name in specification.includes:
        if name.startswith('"'):
            found = relpath(here / name.strip('"'), path.parent)
            program = program.replace(f"#include {name}\n", f'#include "{found}"\n', 1)
    return program
