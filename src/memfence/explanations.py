"""The longer text behind each diagnostic code: what it means, an example, what to do. `memfence explain` prints it."""

from __future__ import annotations

from memfence.codes import Code

_TEXTS: dict[Code, str] = {
    Code.SYNTAX: """
The text breaks a rule of its language at the marked place. memfence reads on after a mistake where it can, but one
missing bracket may cause several messages: fix the first one first.

    if (x == 1 { y = 2 }          the bracket after `1` is missing

If the file is in another language than memfence thinks, name it: --language promela (or rmm, litmus, dve, ...).
""",
    Code.UNREADABLE: """
The file does not exist, may not be read, or is not UTF-8 text.

    memfence check petersn.pml    no such file: look at the spelling

A file in an old encoding is converted with: iconv -f latin1 -t utf-8 old.pml > new.pml
""",
    Code.UNKNOWN_LANGUAGE: """
The language is told from the ending of the file (.c, .cpp, .ll, .pml, .remmex, .rmm, .litmus, .dve, .pst),
and else from its first words. Here neither helped.

    memfence check model.txt --language trencher
""",
    Code.UNSUPPORTED: """
The construct is legal in the language, but memfence has no meaning for it under a relaxed memory model, or not yet.
It is refused rather than ignored, because a verdict about another program would be worth nothing.

    c_code { x++ }                embedded C in Promela cannot be analysed

Write the same with plain loads, stores and locked steps.
""",
    Code.TOO_DEEP: """
Brackets or blocks are nested deeper than memfence can follow. People do not write such text; generators do.

    ((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((x))))))))))) ...

Let the generator put intermediate results into registers.
""",
    Code.BAD_OBJECT: """
`memfence test` reads what an object is from a comment of its source, and does not understand a line of it; or the
calls that the comment names do not compile.

    /* memfence-test counter
     * object   struct counter c;
     * any      add(v: 1..2) = counter_add(&c, v)     who calls, the name, the values that are tried, the code
     * finally  counter_value(&c)
     */

An empty line ends the description. The guide has all words: https://memfence.example/guide/objects
""",
    Code.UNKNOWN_VARIABLE: """
The name is used like a shared variable, but no declaration of a shared variable has it. Often it is a slip of the
keyboard, and the help line proposes the nearest name; or it is local to a process.

    --forbid 'falg == 1'          did you mean `flag`?
    --forbid 'r == 1'             a register belongs to a process: `P0.r == 1`
""",
    Code.UNKNOWN_REGISTER: """
The process has no register or local variable of this name.

    --invariant 'P0.r1 <= 3'      where P0 has only `r0`
""",
    Code.UNKNOWN_LABEL: """
A jump or a property names a label that its process does not have. Labels belong to one process.

    goto again                    but no statement carries `again:`
    --forbid 'P0@cs && P1@cs'     both processes need a label `cs`
""",
    Code.UNKNOWN_PROCESS: """
No process has this name. Instances of one proctype or thread are numbered; a property names the instance.

    --forbid 'P@cs'               with two instances write `P[0]@cs && P[1]@cs`
""",
    Code.DUPLICATE: """
Two declarations in one scope have the same name; the related place shows the first one.

    byte x; bit x;
""",
    Code.EMPTY_RANGE: """
A declared range goes from a larger number to a smaller one, so nothing can ever be stored there.

    x : [3:1]                     write `x : [1:3]`
""",
    Code.OUT_OF_RANGE: """
A constant is stored into, or is the initial value of, something whose declared range does not contain it.

    x : [0:3] = 4
""",
    Code.BAD_ADDRESS: """
A constant address or index lies outside the memory or the array. (One that is computed at run time is checked at run
time, and reported as a failure of the program with the run that leads to it.)

    memory_size 2  ...  read r 2  the addresses are 0 and 1
""",
    Code.NO_PROCESS: """
The program declares no process, so there is nothing to check.

    byte x;                       add at least one `active proctype`, `thread` or `process`
""",
    Code.NO_INITIAL: """
A process does not say where it starts.

    thread t  transition a b noop  end        add `initial a`
""",
    Code.UNBALANCED_LOCK: """
On some path a lock is released that is not held, is taken twice, or is never released. A lock region must be left
the way it was entered on every path.

    lock; if (x) goto out; unlock; out: ...   `out` is reached with and without the lock
""",
    Code.TYPE_MISMATCH: """
A name is used as something that it is not: an array without an index, a process as a value, a channel as a variable.

    --forbid 'flag == 1'          `flag` is an array: `flag[0] == 1`
    --forbid 'P0'                 a process is not a value: `P0@cs`
""",
    Code.RECURSION: """
A macro or an included file contains itself, directly or through others, so its text would never end.

    #define f(x) f(x) + 1
""",
    Code.TOO_LARGE: """
A number needs more bits than there are (32 in most languages, 64 in conditions), or the program becomes too large when
arrays, copies and macros are written out.

    x = 99999999999
""",
    Code.ARGUMENT_COUNT: """
A call gives more or fewer arguments than the definition has parameters.

    inline swap(a, b) { ... }  ...  swap(x)
""",
    Code.CONFLICTING_WRITES: """
The two sides of a rendezvous happen in one step. Where both write the same variable, the result would depend on an
order that the language does not define.

    process A: sync c!;  effect x = 1;      process B: sync c?;  effect x = 2;

Let one side send the value and the other one write it.
""",
    Code.UNKNOWN_CALL: """
Something is called that is neither built in nor defined above the call.

    inline enter(i) { flag[i] = 1 }
    active proctype P() { entre(0) }      no `inline` of that name: enter is meant

In Promela `mfence()`, `sfence()`, `lock()` and `unlock()` are built in.
""",
    Code.NOT_ALIKE: """
`active [*] proctype P()`, `process(*)` or `--any-number P` says that there may be any number of threads like P. They
must be symmetric: a thread that uses its own number, or an element of an array that is its own, is not like the others.

    active [*] proctype P() { turn = _pid }          _pid tells them apart

In C, they differ where they get and use different arguments (more than 8), ask for their own number (`pthread_self`),
take a recursive mutex, leave a result to whoever joins them, or keep the address of a local variable or heap block of
their own where other threads see it.

Such a program can be checked for a fixed number of threads: `active [3]`, or without --any-number.
""",
    Code.FIXED_NUMBER: """
`check` and `fix` answer for any number of threads what is asked about states (--forbid, --invariant, assertions) and
whether a program is robust. Other questions and other commands need to know how many threads there are.

    active [*] proctype P() { ... }                  any number
    active [3] proctype P() { ... }                  three
""",
    Code.OTHER_PROCESSOR: """
Assembly is about one processor, and its instructions mean nothing to the memory model of another: a `DMB LD` has no
place in a machine with store buffers. AArch64 litmus tests are answered under the model of ARMv8.

    memfence check --model armv8 MP.litmus

C and litmus tests in C can be asked about under every model.
""",
    Code.BAD_PROPERTY: """
The expression of --forbid or --invariant cannot be read. It has C's operators over `process@label`,
`process.register`, shared variables (`x`, `a[0]`), `empty(process)` (no store pending), numbers, true and false.

    --forbid 'P0@cs & P1@cs &'    something is missing after the last operator
    --forbid 'x = 1'              comparison is `==`

A name with other characters goes into double quotes: '"my process"@cs'.
""",
    Code.SEVERAL_READS: """
A single statement reads several shared variables. As one atomic step this is more than hardware offers: another
process could change one of them in between. memfence checks the program as written and warns.

    if (flag[0] && turn == 1)     read each into a local variable first to see all interleavings
""",
    Code.RACING_ACCESSES: """
Two threads can be about to access the same variable, one of them writes, and one of the accesses is plain: neither
atomic nor volatile. C calls that undefined, and compilers use it: they keep the variable in a register, read it twice,
or move the access past others. memfence checks the accesses as they are written, so its verdict does not cover that.

    static int ready;                  static atomic_int ready;
    while (!ready) ;                   while (!atomic_load_explicit(&ready, memory_order_relaxed)) ;

memfence looks for states of SC runs in which both accesses come next. Accesses that only relaxed or volatile ones keep
apart are not reported: the verdict names that as an assumption.
""",
    Code.RACES_UNFINISHED: """
Beside the verdict, memfence looks for plain accesses that race (MF206). That search has a limit of its own, and met it:
the warnings are true, but there may be more. The verdict itself is not affected.

    memfence check FILE.c -D THREADS=2     a smaller instance is searched completely
""",
    Code.UNKNOWN_RELATION: """
A text in herd's cat language names a set, relation or function that it does not define above, and that executions do
not come with. These they come with: `po`, `rf`, `co`, `fr`, `loc`, `int`, `ext`, `addr`, `data`, `ctrl`, `rmw`; `R`,
`W`, `F`, `M`, `IW`; and a set for each memory order and fence, such as `ACQ` or `DMB.SY`.

    let ppo = po \\ (WW * R)       no set is called `WW`: did you mean `W`?
""",
    Code.NOT_MONOTONE: """
What `let rec` defines is the least relation that satisfies its equations. If a relation is taken away from itself,
there is none.

    let rec r = po \\ (r; r)       the more is in `r`, the less is in it

Use recursive names on the left of `\\` only, and not below `~`.
""",
    Code.STUCK: """
Some run comes to a state where no process can take a step, though not all have come to their end. What is behind such
a place in the text is not executed, and HOLDS says nothing about it.

    go; x = true; assert(x)        nobody sets `go`: the assertion is never evaluated

`--deadlock` shows the run. A label whose name begins with `end` says that a process may wait there for ever.
""",
    Code.NEVER_TAKEN: """
No run takes this statement, or evaluates this assertion. HOLDS is true, but says less than it seems to.

    x = 1; if :: x == 2 -> assert(y) :: else fi        the assertion is never evaluated

The statements that are named are those that some run comes to, and the assertions.
""",
    Code.NEVER_TRUE: """
The property speaks only about states where its premise is true, and there is no such state.

    memfence check FILE --invariant 'done == 3 -> sum == 6'        `done` never becomes 3

Most often a name or a value in the property is not the one that was meant.
""",
    Code.X86_ASSEMBLY: """
The program has inline assembly of x86, and the question is about C11, ARM or RISC-V. memfence reads what it knows of
it as C does: `mov` as a relaxed access, `xchg` and what has a `lock` as a seq_cst update, `mfence` as a seq_cst
fence. On another processor other code stands there, often with barriers that x86 does not need, so that a
violation may be one of code that is never compiled. Libraries mostly have a version for compilers' builtins:

    memfence check FILE.c --model rc11 -D CK_USE_CC_BUILTINS=1     Concurrency Kit's
    memfence check FILE.c --model rc11 -D __SANITIZE_THREAD__      what several libraries ask for
""",
    Code.NO_WAY_THERE: """
The label stands where no step of its process leads, whatever the others do: behind a `goto` that jumps over it, or
after a loop without an end.

    memfence check FILE --forbid 'P@dead'                     holds of any program in which nothing leads to `dead`

Move the label to where the process comes, or name another one.
""",
    Code.NOTHING_TO_CHECK: """
The program states no property and has no assertion. Then memfence compares the memory model with sequential
consistency; but this is the model that was asked about.

    memfence check FILE --model tso                           compares TSO with SC
    memfence check FILE --model sc --invariant 'x <= 1'       asks something about SC

Under a list of models nothing is compared with SC: each is asked whether something that is stated fails.
""",
    Code.COMPILER: """
memfence reads C and C++ by way of clang. What clang refuses cannot be checked: the message and the place are clang's.

    int x = 1 int y;       add the missing `;`
    #include "queue.h"     memfence check FILE.c -I include
""",
    Code.NO_COMPILER: """
memfence reads C and C++ by way of clang, and found none: neither the one named with --clang, nor the one of the
`ziglang` package, nor a `clang` on the PATH. `memfence run`, `cc` and `c++` need gcc and g++ instead.

    pip install '.[c]'                           in a clone of memfence: brings one along
    memfence check FILE.c --clang /opt/clang     uses your own
""",
    Code.BAD_TRACE: """
A trace is JSON lines, one event per line, in the order in which the events happened:

    {"op":"st","thread":0,"addr":"x","value":1,"loc":"main.c:12"}
    {"op":"ld","thread":1,"addr":"x","value":1,"loc":"main.c:30"}
    {"op":"fence","thread":1}

`op` is ld (load), st (store), il (interlocked: compare-and-swap, exchange, ...) or fence; `thread` is a number or a
name, as is `addr`; `value` and `loc` may be left out. Events of one atomic step have the same number in `step`. The
marked line is something else. Nothing is skipped: a verdict about half a trace would be worth nothing.
""",
    Code.NOT_SEQUENTIAL: """
The monitor asks whether a *sequentially consistent* execution could have gone another way on hardware with store
buffers. In this trace a load saw another value than the last write to its address left there. Either an event is
missing (a write by code that is not recorded), or the lines are not in the order in which the events happened.

    {"op":"st","thread":0,"addr":"x","value":1}
    {"op":"ld","thread":1,"addr":"x","value":0}      x is 1 here

Record the accesses under a lock, or with one thread running at a time.
""",
    Code.BAD_SCHEDULE: """
The file given to --replay is not a schedule, or one of another program: a step is not possible where it stands.

    memfence explore FILE --save-schedule found.json
    memfence explore FILE --replay found.json

A schedule fits the very text it was made for: after an edit, explore again.
""",
    Code.BAD_COMMAND: """
A line that was given to `memfence simulate`, on standard input or by --script, is no command, or asks for a step that
is not possible where it stands. In a terminal the simulation says so and goes on; without one it ends, because the
lines after it were meant for another state.

    1               takes choice 1
    until P0@cs     takes the fewest steps after which P0 stands at cs
    undo 2          takes two choices back

`help` lists all commands.
""",
    Code.BAD_CERTIFICATE: """
The file given to `memfence verify` is not a certificate: it is something else, it was damaged or cut off, or a later
version of memfence wrote it. A certificate that can be read but proves nothing is not an error: it is refused.

    memfence check FILE --certificate proof.mfc
    memfence verify proof.mfc FILE

Make it again, or fetch it again: a certificate is useful only whole.
""",
    Code.NOT_PROVED: """
`memfence verify --checker proved` hands the certificate to `memfence-checker`, a program that Coq makes from proofs.
It is not part of the package: build it from memfence's sources, and put it on PATH or name it in MEMFENCE_CHECKER.

    make proof
    MEMFENCE_CHECKER=build/proof/memfence-checker memfence verify --checker proved proof.mfc FILE

It knows sets of states (invariants) and ranks: the proofs of safety under SC and of programs that never have many
stores pending, and those of temporal properties.
The other two checkers know every kind of certificate.
""",
}


def explanation(code: Code) -> str:
    """The text for `code`, ending in a newline."""
    return _TEXTS.get(code, f"{code.summary}\n").lstrip("\n")
