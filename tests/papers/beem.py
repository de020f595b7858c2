"""The BEEM database in the corpus: its instances, known answers, and properties with their m4 macros expanded."""

from __future__ import annotations

import re
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from xml.etree import ElementTree

from memfence.frontends import dve
from memfence.program.ir import Program
from memfence.source import SourceText
from support.corpus import CORPUS

FOLDER = CORPUS / "beem"


@dataclass(frozen=True, slots=True)
class Answer:
    """What DiVinE said about property number `number`: `is_yes` means reachable, or that the LTL formula holds."""

    number: int
    is_ltl: bool
    is_yes: bool
    length: int


@dataclass(frozen=True, slots=True)
class Instance:
    """One line of the golden table; `states` is exact where the exploration was `complete`."""

    family: str
    number: int
    complete: bool
    states: int
    answers: tuple[Answer, ...]

    @property
    def name(self) -> str:
        return f"{self.family}.{self.number}"

    @property
    def path(self) -> Path:
        return FOLDER / self.family / f"{self.name}.dve"

    def variant(self, number: int) -> Path:
        """The text with property `number` as a property process; exists for the first two instances only."""
        return FOLDER / self.family / f"{self.name}.prop{number}.dve"

    def load(self) -> Program:
        return load(self.path)


@dataclass(frozen=True, slots=True)
class BeemProperty:
    """A formula over `definitions`, which give every proposition its meaning as a DVE expression."""

    formula: str
    definitions: dict[str, str]


def load(path: Path) -> Program:
    return dve.parse(SourceText(str(path), path.read_text()))


@cache
def instances() -> tuple[Instance, ...]:
    """Every instance of the golden table; none where there is no corpus."""
    table = FOLDER / "golden.tsv"
    if not table.exists():
        return ()
    return tuple(_instance(line.split("\t")) for line in table.read_text().splitlines()[1:])


def small_instances(most_states: int) -> list[Instance]:
    return [instance for instance in instances() if instance.complete and instance.states <= most_states]


def _instance(cells: list[str]) -> Instance:
    found = re.findall(r"p(\d+)([RL])=(yes|no):(\d+)", cells[6] if len(cells) > 6 else "")
    answers = tuple(Answer(int(n), kind == "L", answer == "yes", int(length)) for n, kind, answer, length in found)
    return Instance(cells[0], int(cells[1]), cells[2] == "yes", int(cells[3]), answers)


def property_of(instance: Instance, number: int) -> BeemProperty:
    """The property with that number, for the parameters of that instance."""
    root = ElementTree.parse(FOLDER / instance.family / f"{instance.family}.xml").getroot()
    parameters = {}
    for described in root.findall("instance"):
        if described.get("id") == str(instance.number):
            text = described.findtext("parameters") or ""
            parameters = dict(re.findall(r"(\w+)\s*=\s*(-?\w+)", text))
    definitions = {
        (ap.findtext("ap-name") or "").strip(): expand(ap.findtext("ap-expression") or "", parameters)
        for ap in root.iter("ap")
    }
    (formula,) = (p.findtext("formula") or "" for p in root.iter("property") if p.get("id") == str(number))
    # Operators are capital letters and names are not, so BEEM may write `!p1U(p1U ...)`.
    return BeemProperty(re.sub(r"([UWRGFX])", r" \1 ", formula), definitions)


_LOOP = re.compile(r"myloop\(\s*(\w+)\s*,\s*(\d+)\s*,\s*decr\((\w+)\)\s*,\s*`(.+?)'\s*,\s*`(.*?)'\s*\)")


def expand(text: str, parameters: dict[str, str]) -> str:
    """The expression with `myloop` unrolled and parameters replaced."""

    def unroll(match: re.Match[str]) -> str:
        index, first, count, body, joint = match.groups()
        last = int(parameters.get(count, count)) - 1
        body = body.replace("`'", "\0")
        pieces = [re.sub(rf"\b{index}\b", str(value), body) for value in range(int(first), last + 1)]
        return f"({joint.join(pieces)})".replace("\0", "")

    unrolled = _LOOP.sub(unroll, text)
    return re.sub(r"\b[A-Z]\w*\b", lambda word: parameters.get(word[0], word[0]), unrolled).strip()
