"""`memfence.verify`: does a certificate prove what it claims about a program?"""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal, Unpack

from memfence.api.claimed import as_claimed
from memfence.api.values import refuse_unknown, refuse_values, said_in
from memfence.certificates.checker.refusal import Checked, NotProved, Refused
from memfence.certificates.checker.verify import verify_opened
from memfence.certificates.format.container import NotACertificate
from memfence.certificates.format.header import Header, options_of
from memfence.certificates.format.sections import open_certificate
from memfence.certificates.result import VerifyResult
from memfence.codes import Code
from memfence.deadline import Deadline
from memfence.diagnostics import Diagnostic, InputError, Label
from memfence.pipeline import load
from memfence.program.ir import Program
from memfence.questions.conflicts import refuse_other_processors
from memfence.source import SourceText
from memfence.tasks.limits import Limits
from memfence.verbs.refusal import refuse_unused
from memfence.verbs.usage import Usage

if TYPE_CHECKING:
    from memfence.api.typed import VerifyKeywords

CheckerName = Literal["auto", "native", "python", "proved"]


def verify(
    certificate: str | Path,
    source: Program | str | Path,
    *,
    checker: CheckerName = "auto",
    memory_megabytes: int | None = None,
    timeout_seconds: float | None = None,
    **typed: Unpack[VerifyKeywords],
) -> VerifyResult:
    """Check the certificate against the program, which is read as the certificate says.

    `checker`: the C++ one, the Python one, the C++ one wherever it can check, or the proved one, which has to be built
    (`make proof`) and knows invariants and ranks only. `paths`: `include`, `forced_include` and `clang`, for C.
    InputError if the file is no certificate, or the program cannot be read; TimeUp if it takes too long.
    """
    paths = dict[str, Any](typed)
    limits = {"memory_megabytes": memory_megabytes, "timeout_seconds": timeout_seconds}
    everything = {**paths, **limits, "checker": checker}
    refuse_unknown("verify", everything)
    refuse_values("verify", everything)
    clock = Deadline(timeout_seconds)
    most_bytes = Limits(memory_megabytes=memory_megabytes).memory_bytes
    try:
        with clock.enforced(grace=0):
            header = _header(certificate)
            program = source if isinstance(source, Program) else load(source, options_of(header.reading, **paths))
            said = said_in("verify", paths, None)
            refuse_unused(Usage(verb="verify", said=said, files=(program.source.path,), program=program))
            refuse_other_processors(program)
            claimed = as_claimed(program, header.claim)
            checked, refused = _judged(Path(certificate), claimed, checker, most_bytes)
    except NotACertificate as problem:
        raise InputError([_not_a_certificate(certificate, str(problem))]) from None
    except MemoryError:
        raise InputError([_too_large(certificate)]) from None
    except OSError as problem:
        raise InputError([_not_a_certificate(certificate, problem.strerror or str(problem))]) from None
    return VerifyResult(str(certificate), program, header, checked, refused, clock.elapsed)


def _header(path: str | Path) -> Header:
    with Path(path).open("rb") as file:
        return open_certificate(file).header


def _judged(
    path: Path, program: Program, checker: CheckerName, most_bytes: int
) -> tuple[Checked | None, Refused | None]:
    """One of the two: what was found good, or the first violated condition."""
    from memfence.certificates.checker.native import NotForTheFastChecker

    for fast in (True, False) if checker == "auto" else (checker == "native",):
        try:
            with path.open("rb") as file:
                opened, proved = open_certificate(file), checker == "proved"
                return verify_opened(opened, program, fast=fast, most_bytes=most_bytes, proved=proved), None
        except Refused as refused:
            return None, refused
        except NotProved as reason:
            raise InputError([_not_proved(path, str(reason))]) from None
        except NotForTheFastChecker as reason:
            if checker == "native":
                raise InputError([_not_a_certificate(path, f"the fast checker cannot check it: {reason}")]) from None
    raise AssertionError("the Python checker knows every certificate")


def _not_a_certificate(path: str | Path, reason: str) -> Diagnostic:
    at = Label(SourceText(str(path), "").span(0, 0))
    hint = "memfence check FILE --certificate OUT.mfc makes one"
    return Diagnostic(Code.BAD_CERTIFICATE, f"`{path}` is not a certificate: {reason}", at, hint=hint)


def _not_proved(path: str | Path, reason: str) -> Diagnostic:
    at = Label(SourceText(str(path), "").span(0, 0))
    return Diagnostic(Code.NOT_PROVED, reason, at, hint="leave --checker out: the other two check every certificate")


def _too_large(path: str | Path) -> Diagnostic:
    at = Label(SourceText(str(path), "").span(0, 0))
    return Diagnostic(
        Code.TOO_LARGE, f"the states of `{path}` do not fit into memory", at, hint="allow more: --memory MB"
    )
