"""Program transformations, one per file: `lock_regions` and `intervals` belong to loading, the rest are reductions."""
