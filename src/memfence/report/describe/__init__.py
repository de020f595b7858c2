"""What each verb found, as a report: one file per result and per shape of it."""
