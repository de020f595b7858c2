"""What `--json` prints, as classes: the shape of each object. `schema` derives the schemas from it that are shipped.

Keys are only ever added. A class is open, so that readers expect more keys, unless it is `closed`.
"""
