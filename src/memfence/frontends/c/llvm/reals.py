"""The bytes of floating-point constants: no value is computed with them, but a union may look at their bits."""

from __future__ import annotations

import struct

WORDS = {"0xK": 10, "0xL": 16, "0xH": 2, "0xR": 2}
"""Prefixes of constants that LLVM writes as they are in memory, and how many bytes they have."""


def bytes_of_real(type_name: str, text: str) -> bytes:
    """The constant as it lies in memory. ValueError where it is none."""
    prefix = text[:3]
    if prefix == "0xL":  # two words, the low one first
        return b"".join(int(word, 16).to_bytes(8, "little") for word in (text[3:19], text[19:35]))
    if prefix in WORDS:
        return int(text[3:], 16).to_bytes(WORDS[prefix], "little")
    bits = int(text, 16) if text.startswith("0x") else struct.unpack("<Q", struct.pack("<d", float(text)))[0]
    return _narrowed(bits).to_bytes(4, "little") if type_name == "float" else bits.to_bytes(8, "little")


def _narrowed(bits: int) -> int:
    """A `double` that is exactly a `float`, as one; of what is no number, the bits that there is room for."""
    sign, exponent, fraction = bits >> 63, bits >> 52 & 0x7FF, bits & ((1 << 52) - 1)
    if exponent == 0x7FF:
        return sign << 31 | 0xFF << 23 | fraction >> 29
    value: float = struct.unpack("<d", bits.to_bytes(8, "little"))[0]
    narrow: int = struct.unpack("<I", struct.pack("<f", value))[0]
    return narrow
