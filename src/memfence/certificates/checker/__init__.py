"""The checker of certificates. It knows `program` and `models`, and shares no line with engines, passes or strategy."""
