"""Every table there is, in the order in which the papers appeared."""

from __future__ import annotations

from paper_tables import atomic_writes, linden_wolper, persistence, sober
from paper_tables.table import Table

TABLES: dict[str, Table] = {
    table.name: table
    for table in (
        sober.TABLE,
        linden_wolper.TABLE_2010,
        linden_wolper.TABLE_2013,
        atomic_writes.TABLE,
        persistence.TABLE,
    )
}
