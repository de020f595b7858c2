"""Several machines at once, by Ray: finding them, and giving them work. Only this folder and `engines/cluster` know it.

Ray comes with the extra `cluster`, and is imported where it is first needed.
"""
