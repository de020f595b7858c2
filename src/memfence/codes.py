"""Every diagnostic code, once: `memfence explain`, the docs and the tests read this table."""

from __future__ import annotations

from enum import Enum


class Code(Enum):
    """`MFxyy`: x = stage (0 source, 1 program, 2 model, 3 engine, 9 our own fault), yy = serial, never reused."""

    SYNTAX = ("MF001", "the text does not follow the grammar of its language")
    UNREADABLE = ("MF002", "the file cannot be read as text")
    UNKNOWN_LANGUAGE = ("MF003", "the language of the file cannot be told from its name or its content")
    UNSUPPORTED = ("MF004", "the language allows this construct, but memfence does not support it")
    TOO_DEEP = ("MF005", "the text is nested too deeply")
    COMPILER = ("MF006", "the C or C++ compiler refuses the file")
    NO_COMPILER = ("MF007", "no clang was found that could read C")
    UNKNOWN_VARIABLE = ("MF101", "a shared variable is used but never declared")
    UNKNOWN_REGISTER = ("MF102", "a register or local variable is used but never declared")
    UNKNOWN_LABEL = ("MF103", "a label is the target of a jump or of a property but never defined")
    UNKNOWN_PROCESS = ("MF104", "a process is named but never defined")
    DUPLICATE = ("MF105", "a name is declared twice")
    EMPTY_RANGE = ("MF106", "a declared range contains no value")
    OUT_OF_RANGE = ("MF107", "a constant lies outside the range of what it is given to")
    BAD_ADDRESS = ("MF108", "a constant address or index lies outside the memory")
    BAD_OBJECT = ("MF008", "the description of an object to test cannot be read")
    NO_PROCESS = ("MF109", "the program has no process")
    NO_INITIAL = ("MF110", "a process has no initial location")
    UNBALANCED_LOCK = ("MF111", "a lock is released that is not held, or taken twice")
    TYPE_MISMATCH = ("MF112", "a name is used as something that it is not")
    RECURSION = ("MF113", "a macro or an included file includes itself")
    TOO_LARGE = ("MF114", "a number or the expanded program is too large")
    ARGUMENT_COUNT = ("MF115", "a call has the wrong number of arguments")
    CONFLICTING_WRITES = ("MF116", "both sides of a rendezvous write the same variable")
    UNKNOWN_CALL = ("MF117", "a macro or `inline` is called but never defined")
    NOT_ALIKE = ("MF118", "parameterised processes must be symmetric")
    FIXED_NUMBER = ("MF119", "the question is about programs with a fixed number of processes")
    OTHER_PROCESSOR = ("MF121", "the memory model does not know the processor that the program is written for")
    BAD_PROPERTY = ("MF120", "a property expression cannot be read or names something unknown")
    SEVERAL_READS = ("MF201", "a statement reads several shared variables in one atomic step")
    STUCK = ("MF202", "a deadlock: no process can move, though not all have ended")
    NEVER_TAKEN = ("MF203", "a statement or an assertion is unreachable")
    NEVER_TRUE = ("MF204", "a property holds vacuously: its premise is never true")
    NOTHING_TO_CHECK = ("MF205", "nothing is stated about the program, and there is nothing to compare it with")
    RACING_ACCESSES = ("MF206", "plain accesses of two threads race")
    RACES_UNFINISHED = ("MF207", "the search for racing plain accesses did not end")
    UNKNOWN_RELATION = ("MF208", "a memory model uses a name that is not defined")
    NO_WAY_THERE = ("MF210", "a property names a place of a process to which no step leads")
    X86_ASSEMBLY = ("MF211", "the code has x86 instructions, and the question is about another processor")
    NOT_MONOTONE = ("MF209", "a recursive definition of a memory model is not monotone")
    BAD_TRACE = ("MF301", "a line of a trace is not an event of the known shape")
    NOT_SEQUENTIAL = ("MF302", "a load in a trace saw another value than the last write left")
    BAD_SCHEDULE = ("MF303", "a schedule cannot be read or does not fit the program")
    BAD_COMMAND = ("MF305", "an unknown command of a simulation, or one that is not enabled in this state")
    BAD_CERTIFICATE = ("MF304", "the file is not a certificate, or a damaged one")
    NOT_PROVED = ("MF306", "the proved checker is not there, or cannot check the certificate")

    def __init__(self, id: str, summary: str) -> None:
        self.id = id
        self.summary = summary
