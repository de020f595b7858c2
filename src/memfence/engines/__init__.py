"""The searches. Only this folder may touch the native core; everything it returns is typed, and limits are never errors."""
