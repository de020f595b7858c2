"""The program that a certificate is about: where deadlocks are excluded, so are loops that only read and never end."""

from __future__ import annotations

from memfence.certificates.checker.question import question_of
from memfence.certificates.format.container import NotACertificate
from memfence.certificates.format.header import Claim
from memfence.passes.stuck_awaits import with_stuck_awaits
from memfence.program.ir import Program


def as_claimed(program: Program, claim: Claim) -> Program:
    """`program` as it was loaded, read as the claim means it: whoever writes a certificate and whoever checks it ask
    about the same program."""
    if claim.criterion != "safety":
        return program
    try:
        question = question_of(claim, program)
    except NotACertificate:
        return program  # whoever asks next says so
    return with_stuck_awaits(program, question.looks_at) if question.deadlock else program
