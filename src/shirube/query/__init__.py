"""The Boolean query language and the filters: pure functions from what a caller writes to trees."""
