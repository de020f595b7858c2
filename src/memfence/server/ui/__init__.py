"""The page: `folder` says what it may read, `board` holds one visitor's program and searches, `page` draws them.

Only `page` imports nicegui, which the extra `ui` brings. One process, bound to this machine; searches are children.
"""
