"""Which memory orders must be stronger, and where C11 fences are missing: the least that is enough, with proof."""
