"""One run of a program: its events, the relations between them, and what they explain. No search happens here."""
