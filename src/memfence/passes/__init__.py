"""Program transformations, one a file: `lock_regions` and `intervals` belong to loading, the others are reductions."""
