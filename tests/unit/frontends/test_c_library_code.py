"""Code of libraries that is in no header: libc++'s strings and shared pointers, and texts that threads share."""

from __future__ import annotations

import importlib.util
from pathlib import Path

import pytest

import memfence
from memfence import pipeline
from memfence.diagnostics import InputError
from memfence.tasks.answer import Verdict
from support.c_compiler import needs_clang

pytestmark = needs_clang
needs_sources = pytest.mark.skipif(
    importlib.util.find_spec("ziglang") is None, reason="libc++'s sources are in ziglang"
)
TEXTS = {
    "copies": 'std::string a = "left"; std::string b = a; b += " and right, longer than what fits in place"; '
    'assert(a == "left" && b.size() == 46 && b.find("right") == 9);',
    "numbers": 'assert(std::to_string(1234) + "x" == "1234x");',
    "vectors": 'std::vector<std::string> all; all.push_back("one"); all.push_back("two"); assert(all[1] == "two");',
    "compares": 'std::string a = "abc", b = "abd"; assert(a < b && a.substr(1) == "bc" && a.compare(b) < 0);',
}
HEAD = "".join(f"#include <{name}>\n" for name in ("atomic", "cassert", "memory", "string", "thread", "vector"))


def verdict(folder: Path, text: str, model: str = "tso", name: str = "program.cpp") -> Verdict:
    path = folder / name
    path.write_text(text)
    return memfence.check(path, model=model, timeout_seconds=100).verdict


@needs_sources
@pytest.mark.parametrize("name", TEXTS)
def test_strings_are_what_the_library_makes_of_them(tmp_path: Path, name: str) -> None:
    body = TEXTS[name]
    assert verdict(tmp_path, f"{HEAD}int main() {{ {body} return 0; }}") is Verdict.HOLDS
    wrong = body.replace("assert(", "assert(!(", 1).rsplit(");", 1)[0] + "));"
    assert verdict(tmp_path, f"{HEAD}int main() {{ {wrong} return 0; }}") is Verdict.VIOLATED


SHARED = """
struct Node { int value; ~Node() { value = -1; } };
int main() {
  auto first = std::make_shared<Node>(Node{5});
  std::weak_ptr<Node> watching = first;
  std::thread other([HELD] { assert(USE->value == 5); });
  first.reset();
  other.join();
  assert(watching.expired());
  return 0;
}
"""


@needs_sources
@pytest.mark.parametrize(
    ("held", "use", "expected"),
    [
        ("held = first", "held", Verdict.HOLDS),
        ("held = first.get()", "held", Verdict.VIOLATED),
        ("&first", "first", Verdict.VIOLATED),
    ],
    ids=["counted", "a plain pointer", "by reference"],
)
def test_shared_pointers_count_as_the_library_does(tmp_path: Path, held: str, use: str, expected: Verdict) -> None:
    text = HEAD + SHARED.replace("HELD", held).replace("USE", use)
    assert verdict(tmp_path, text) is expected


IN_C = """
#include <assert.h>
#include <pthread.h>
#include <stdatomic.h>
#include <string.h>
static struct { int a; char text[4]; } shared, same = {1, "ab"};
static atomic_int ready;
static void *work(void *unused) { shared.a = 1; shared.text[0] = 'a'; shared.text[1] = 'b'; PUBLISH; return unused; }
int main(void)
{
    pthread_t t;
    pthread_create(&t, 0, work, 0);
    if (atomic_load(&ready)) assert(QUESTION);
    pthread_join(t, 0);
    return 0;
}
"""


@pytest.mark.parametrize(
    "question",
    [
        "memcmp(&shared, &same, sizeof same) == 0",
        "strlen(shared.text) == 2",
        'strcmp(shared.text, "ab") == 0 && strcmp("b", shared.text) > 0',
        "memchr(shared.text, 'b', 4) == shared.text + 1 && !memchr(shared.text, 'x', 4)",
    ],
)
@pytest.mark.parametrize(("publish", "expected"), [("ready = 1", Verdict.HOLDS), ("", Verdict.VIOLATED)])
def test_shared_texts_are_read_byte_by_byte(tmp_path: Path, question: str, publish: str, expected: Verdict) -> None:
    text = IN_C.replace("QUESTION", question).replace("PUBLISH", publish)
    if expected is Verdict.VIOLATED:
        text = text.replace("if (atomic_load(&ready))", "")
    assert verdict(tmp_path, text, name="program.c") is expected


def test_what_a_library_does_is_refused_where_the_user_asks_for_it(tmp_path: Path) -> None:
    path = tmp_path / "real.cpp"
    path.write_text(
        "#include <atomic>\n#include <thread>\nstd::atomic<double> level;\n"
        "int main() {\n  std::thread other([] {\n    level.load();\n  });\n  other.join();\n}\n"
    )
    with pytest.raises(InputError) as refused:
        pipeline.load(path)
    (error,) = refused.value.diagnostics
    assert "floating-point" in error.message
    assert (error.at.span.source.path, error.at.span.line) == (str(path), 6)
    assert "ziglang" in error.related[0].span.source.path or "include" in error.related[0].span.source.path
