"""The version, once."""

VERSION = "0.2.0"
