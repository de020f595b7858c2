"""Whatever a text says, the process that answers a page reads nothing outside of its folder, nor tells what is there.

Each attempt is made twice: without confinement, where it must find the secret (else it is no attempt), and with it.
"""

from __future__ import annotations

import asyncio
import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from memfence.server.child import Conversation, Question
from support.c_compiler import HAS_CLANG

SECRET = "SECRET_7331"
C_SECRET = f"#error {SECRET}\n"
LONG_SECRET = f"{SECRET} is here;\n"
PROMELA_SECRET = f"{SECRET} 7;\n"
DEBUG_IR = """
target triple = "x86_64-unknown-linux-gnu"
define i32 @main() !dbg !4 {
  call void @__assert_fail(ptr null, ptr null, i32 1, ptr null), !dbg !7
  unreachable, !dbg !7
}
declare void @__assert_fail(ptr, ptr, i32, ptr)
!llvm.dbg.cu = !{!0}
!llvm.module.flags = !{!2, !3}
!0 = distinct !DICompileUnit(language: DW_LANG_C11, file: !1, producer: "clang", isOptimized: false, runtimeVersion: 0, emissionKind: FullDebug)
!1 = !DIFile(filename: "PATH", directory: "/")
!2 = !{i32 7, !"Dwarf Version", i32 5}
!3 = !{i32 2, !"Debug Info Version", i32 3}
!4 = distinct !DISubprogram(name: "main", scope: !1, file: !1, line: 1, type: !5, scopeLine: 1, spFlags: DISPFlagDefinition, unit: !0)
!5 = !DISubroutineType(types: !6)
!6 = !{null}
!7 = !DILocation(line: 1, column: 1, scope: !4)
"""  # noqa: E501
FAILS = '#include <assert.h>\nint main(void) {\n#line 1 "NAME"\nassert(0); return 0; }\n'

INCLUDES = {
    "quotes": '#include "PATH"',
    "angles": "#include <PATH>",
    "blanks": '  #\t include\t"PATH"',
    "line splice": '#inc\\\nlude "PATH"',
    "line splice with return": '#inc\\\r\nlude "PATH"',
    "line splice with blank": '#inc\\ \nlude "PATH"',
    "line splice with tab": '#inc\\\t\nlude "PATH"',
    "many splices": "".join(f"{char}\\\n" for char in "#include ") + '"PATH"',
    "splice in the name": '#include "PA\\\nTH"',
    "digraph": '%:include "PATH"',
    "digraph and splice": '%:inc\\\t\nlude "PATH"',
    "spliced digraph": '%\\\n:include "PATH"',
    "comments": '#/* a */include/* b */"PATH"',
    "comment over lines": '#/* a\n*/include "PATH"',
    "comment before": '/* a */ #include "PATH"',
    "form feed": '#\finclude\v"PATH"',
    "return alone": 'int a;\r#include "PATH"',
    "macro": '#define F "PATH"\n#include F',
    "macro with angles": "#define F <PATH>\n#include F",
    "stringified macro": "#define S(x) #x\n#define T(x) S(x)\n#include T(PATH)",
    "macro in a macro": '#define G "PATH"\n#define F G\n#include F',
    "import": '#import "PATH"',
    "include next": '#include_next "PATH"',
    "include next, angles": "#include_next <PATH>",
    "skipped and taken": '#if 0\n#elif 1\n#include "PATH"\n#endif',
    "in a function": 'int main(void) {\n#include "PATH"\n}',
    "double slash": '#include "/PATH"',
    "dot in the path": '#include "/.PATH"',
    "up and down": '#include "/usr/..PATH"',
    "by /proc": '#include "/proc/self/rootPATH"',
    "by the working folder": '#include "/proc/self/cwd/../secret.h"',
    "relative": '#include "../secret.h"',
    "relative, dots": '#include "./../secret.h"',
    "relative, from below": '#include "sub/../../secret.h"',
    "relative, slashes": '#include "sub//..//..//secret.h"',
    "link": '#include "alias.h"',
    "link to a folder": '#include "up/secret.h"',
    "link to a link": '#include "alias2.h"',
    "by a header of the folder": '#include "outward.h"',
    "by a header of the folder and a macro": '#define TARGET "PATH"\n#include "macro.h"',
}
TESTS = {
    "has include": '__has_include("PATH")',
    "has include, angles": "__has_include(<PATH>)",
    "has include, spliced": '__has_\\\ninclude("PATH")',
    "has include, relative": '__has_include("../secret.h")',
    "has include, link": '__has_include("alias.h")',
    "has include next": '__has_include_next("PATH")',
    "has embed": '__has_embed("PATH")',
    "has embed, angles": "__has_embed(<PATH>)",
    "has include, negated": '!(!__has_include("PATH"))',
}
EMBEDS = {
    "embed": '#embed "PATH"',
    "embed, angles": "#embed <PATH>",
    "embed, spliced": '#emb\\\ned "PATH"',
    "embed, spliced with a tab": '#emb\\\t\ned "PATH"',
    "embed, digraph": '%:embed "PATH"',
    "embed, limited": '#embed "PATH" limit(1)',
    "embed, macro": '#define F "PATH"\n#embed F',
    "embed, relative": '#embed "../secret.h"',
    "embed, link": '#embed "alias.h"',
}
POINTED_AT = {
    "line": '#line 1 "PATH"\nnonsense here;',
    "line marker": '# 1 "PATH"\nnonsense here;',
    "line marker that enters": '# 1 "PATH" 1\nnonsense here;',
    "line, relative": '#line 1 "../long.h"\nnonsense here;',
    "line, link": '#line 1 "long_alias.h"\nnonsense here;',
    "line, spliced": '#li\\\nne 1 "PATH"\nnonsense here;',
    "line, digraph": '%:line 1 "PATH"\nnonsense here;',
}
"""Mistakes that stand, so the text says, in another file: where they end tells the length of what stands there."""
RUNS = {
    "line of a failing assertion": FAILS.replace("NAME", "PATH"),
    "line of a failing assertion, relative": FAILS.replace("NAME", "../secret.h"),
    "line of a failing assertion, link": FAILS.replace("NAME", "alias.h"),
}
NEVER = {
    "assembler incbin": '__asm__(".incbin \\"PATH\\"");\nint main(void) { return 0; }',
    "assembler include": '__asm__(".include \\"PATH\\"");\nint main(void) { return 0; }',
    "assembler in a function": 'int main(void) { __asm__ volatile(".incbin \\"PATH\\""); return 0; }',
    "trigraph": '??=include "PATH"\nint main(void) { return 0; }',
    "trigraph splice": '#inc??/\nlude "PATH"\nint main(void) { return 0; }',
    "dependency pragma": '#pragma GCC dependency "PATH"\nint main(void) { return 0; }',
    "dependency operator": '_Pragma("GCC dependency \\"PATH\\"")\nint main(void) { return 0; }',
    "module": 'import "PATH";\nint main(void) { return 0; }',
    "byte order mark": '\ufeff#include "PATH"\nint main(void) { return 0; }',
    "escaped name": '#include "\\x2fetc/passwd"\nint main(void) { return 0; }',
    "alias pragma": '#pragma include_alias("a.h", "PATH")\n#include "a.h"\nint main(void) { return 0; }',
}
"""These do not read anything even without confinement."""

C_ATTEMPTS = {
    **{name: f"{text}\nint main(void) {{ return 0; }}\n" for name, text in INCLUDES.items()},
    **{name: f"#if {text}\n#error {SECRET}\n#endif\nint main(void) {{ return 0; }}\n" for name, text in TESTS.items()},
    **{
        name: f'const unsigned char all[] = {{\n{text}\n}};\n_Static_assert(sizeof all == 0, "{SECRET}");\n'
        for name, text in EMBEDS.items()
    },
    **RUNS,
    **NEVER,
}
PROMELA_ATTEMPTS = {
    "Promela": '#include "PATH"\nactive proctype P() { skip }',
    "Promela, relative": '#include "../secret.pml"\nactive proctype P() { skip }',
    "Promela, link": '#include "alias.pml"\nactive proctype P() { skip }',
    "Promela, by a file of the folder": '#include "outward.pml"\nactive proctype P() { skip }',
    "Promela, by /proc": '#include "/proc/self/cwd/../secret.pml"\nactive proctype P() { skip }',
}


@pytest.fixture(scope="module")
def place(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder, and secrets beside it."""
    around = tmp_path_factory.mktemp("around")
    inside = around / "inside"
    (inside / "sub").mkdir(parents=True)
    (around / "secret.h").write_text(C_SECRET)
    (around / "long.h").write_text(LONG_SECRET)
    (inside / "long_alias.h").symlink_to(around / "long.h")
    (around / "secret.pml").write_text(PROMELA_SECRET)
    for ending in ("h", "pml"):
        (inside / f"alias.{ending}").symlink_to(around / f"secret.{ending}")
        (inside / f"outward.{ending}").write_text(f'#include "../secret.{ending}"\n')
    (inside / "alias2.h").symlink_to("alias.h")
    (inside / "up").symlink_to("..")
    (inside / "macro.h").write_text("#include TARGET\n")
    (inside / "own.h").write_text("#pragma once\n#define OWN 7\n")
    (inside / "sub" / "below.h").write_text('#include "../own.h"\n')
    return inside


class Asker:
    """One child that is confined to the folder, and one that is not."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self.loop = asyncio.new_event_loop()
        self.children = {confined: Conversation() for confined in (False, True)}

    def ask(self, name: str, text: str, *, confined: bool, verb: str = "diagnose") -> dict[str, Any]:
        options = {} if verb == "diagnose" else {"model": "sc"}
        question = Question(verb, name, text, options, 60.0, 2_000, str(self.folder), is_confined=confined)
        return self.loop.run_until_complete(self.children[confined].ask(question))

    def end(self) -> None:
        for child in self.children.values():
            self.loop.run_until_complete(child.end())
        self.loop.close()


@pytest.fixture(scope="module")
def asker(place: Path) -> Iterator[Asker]:
    started = Asker(place)
    yield started
    started.end()


def tells(found: dict[str, Any]) -> bool:
    return SECRET in json.dumps(found)


needs_clang = pytest.mark.skipif(not HAS_CLANG, reason="neither ziglang nor clang is installed")


@needs_clang
@pytest.mark.parametrize("name", C_ATTEMPTS)
def test_no_spelling_reads_a_file_elsewhere(name: str, asker: Asker, place: Path) -> None:
    text = C_ATTEMPTS[name].replace("PATH", str(place.parent / "secret.h"))
    if name == "splice in the name":
        text = INCLUDES[name].replace("PA\\\nTH", str(place.parent / "sec\\\nret.h"))
    verb = "check" if name in RUNS else "diagnose"
    assert tells(asker.ask("text.c", text, confined=False, verb=verb)) == (name not in NEVER)
    assert not tells(asker.ask("text.c", text, confined=True, verb=verb))


@needs_clang
@pytest.mark.parametrize("name", POINTED_AT)
def test_no_mistake_is_shown_in_a_file_elsewhere(name: str, asker: Asker, place: Path) -> None:
    text = POINTED_AT[name].replace("PATH", str(place.parent / "long.h"))
    lengths = [asker.ask("text.c", text, confined=confined)["diagnostics"][0]["length"] for confined in (False, True)]
    assert lengths == [len(SECRET), 1]


@needs_clang
@pytest.mark.parametrize("name", ["quotes", "relative", "has include", "embed", "dependency pragma", "link"])
def test_what_is_elsewhere_looks_the_same_whether_it_exists_or_not(name: str, asker: Asker, place: Path) -> None:
    there, missing = str(place.parent / "secret.h"), str(place.parent / "absent.h")
    text = C_ATTEMPTS[name]
    found = asker.ask("text.c", text.replace("PATH", there), confined=True)
    absent = asker.ask(
        "text.c",
        text.replace("PATH", missing).replace("secret.h", "absent.h").replace("alias.h", "saila.h"),
        confined=True,
    )
    told = json.dumps(found).replace("secret.h", "absent.h").replace("alias.h", "saila.h")
    assert told == json.dumps(absent)


@pytest.mark.parametrize("name", PROMELA_ATTEMPTS)
def test_promela_includes_nothing_from_elsewhere(name: str, asker: Asker, place: Path) -> None:
    text = PROMELA_ATTEMPTS[name].replace("PATH", str(place.parent / "secret.pml"))
    assert tells(asker.ask("text.pml", text, confined=False))
    found = asker.ask("text.pml", text, confined=True)
    assert not tells(found) and "it is not in the folder" in json.dumps(found)


def test_places_in_llvms_language_show_nothing_from_elsewhere(asker: Asker, place: Path) -> None:
    text = DEBUG_IR.replace("PATH", str(place.parent / "secret.h"))
    assert tells(asker.ask("text.ll", text, confined=False, verb="check"))
    found = asker.ask("text.ll", text, confined=True, verb="check")
    assert not tells(found) and found["verdict"]


def test_bitcode_is_read_in_the_folder_only(asker: Asker, place: Path) -> None:
    for name in (str(place.parent / "secret.bc"), "../secret.bc"):
        assert "it is not in the folder" in json.dumps(asker.ask(name, "", confined=True))


@needs_clang
@pytest.mark.parametrize(
    "text",
    [
        '#include "own.h"\nint main(void) { return OWN - 7; }',
        '#include "sub/below.h"\nint main(void) { return OWN - 7; }',
        '#include "sub/../own.h"\nint main(void) { return OWN - 7; }',
        '#if !__has_include("own.h")\n#error missing\n#endif\nint main(void) { return 0; }',
        '#if __has_include("absent.h")\n#error found\n#endif\nint main(void) { return 0; }',
        "#include <stdatomic.h>\n#include <pthread.h>\n#include <stdio.h>\nint main(void) { return 0; }",
        'static const char own[] = {\n#embed "own.h"\n};\nint main(void) { return own[0] == 0; }',
    ],
)
def test_the_folder_and_the_headers_of_the_compiler_can_be_read(text: str, asker: Asker) -> None:
    for verb in ("diagnose", "check"):
        inside = asker.ask("text.c", text, confined=True, verb=verb)
        outside = asker.ask("text.c", text, confined=False, verb=verb)
        assert {**inside, "stats": 0, "page": 0} == {**outside, "stats": 0, "page": 0}
        assert not inside.get("diagnostics") and inside.get("verdict", "holds") == "holds"


@needs_clang
def test_a_file_to_embed_that_is_missing_is_said_to_be_missing(asker: Asker) -> None:
    text = 'const char all[] = {\n#embed "absent.h"\n};\nint main(void) { return 0; }\n'
    for confined in (True, False):
        message = asker.ask("text.c", text, confined=confined)["diagnostics"][0]["message"]
        assert "embed" in message or "not found" in message


@needs_clang
def test_cpp_headers_can_be_read(asker: Asker) -> None:
    text = '#include <atomic>\n#include <thread>\n#include "own.h"\nint main() { return OWN - 7; }\n'
    assert asker.ask("text.cpp", text, confined=True)["diagnostics"] == []


@needs_clang
def test_a_program_below_the_folder_finds_its_own_headers(asker: Asker) -> None:
    text = '#include "below.h"\nint main(void) { return OWN - 7; }'
    assert asker.ask("sub/text.c", text, confined=True)["diagnostics"] == []
    assert asker.ask("text.c", text, confined=True)["diagnostics"] != []


@needs_clang
def test_mistakes_in_headers_of_the_folder_are_shown(asker: Asker, place: Path) -> None:
    (place / "wrong.h").write_text("int here is wrong;\n")
    found = asker.ask("text.c", '#include "wrong.h"\nint main(void) { return 0; }', confined=True)
    assert found["diagnostics"] and found == asker.ask(
        "text.c", '#include "wrong.h"\nint main(void) { return 0; }', confined=False
    )


@needs_clang
def test_a_folder_with_a_blank_and_other_letters_is_a_folder(tmp_path: Path) -> None:
    folder = tmp_path / "mö x, 'y' \"z\" #w$"
    folder.mkdir()
    (folder / "own ü.h").write_text("#define OWN 7\n")
    asker = Asker(folder)
    try:
        text = '#include "own ü.h"\nint main(void) { return OWN - 7; }'
        assert asker.ask("text ö.c", text, confined=True)["diagnostics"] == []
    finally:
        asker.end()


@needs_clang
def test_a_folder_with_very_many_files_offers_code_or_says_so(tmp_path: Path) -> None:
    (tmp_path / "own.h").write_text("#define OWN 7\n")
    for number in range(5_001):
        (tmp_path / f"{number}.dat").touch()
    text = '#include "own.h"\nint main(void) { return OWN - 7; }'
    asker = Asker(tmp_path)
    try:
        assert asker.ask("text.c", text, confined=True)["diagnostics"] == []
        for number in range(5_001):
            (tmp_path / f"{number}.dat").rename(tmp_path / f"{number}.h")
        found = asker.ask("text.c", text, confined=True)
        assert "too many files" in found["diagnostics"][0]["message"]
    finally:
        asker.end()
