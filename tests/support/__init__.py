"""What several tests share: generators, small programs, searches and where the corpus is. No test lives here.

`from support.corpus import needs_corpus`: `pythonpath` in pyproject.toml puts the folder `tests` on the path.
"""
