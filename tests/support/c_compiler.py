"""Whether C can be read here, and the mark for tests that need it."""

from __future__ import annotations

import importlib.util
import shutil

import pytest

HAS_CLANG = importlib.util.find_spec("ziglang") is not None or shutil.which("clang") is not None
HAS_TREE_SITTER = importlib.util.find_spec("tree_sitter_c") is not None

needs_clang = pytest.mark.skipif(
    not (HAS_CLANG and HAS_TREE_SITTER), reason="neither ziglang nor clang, or no tree-sitter, is installed"
)
