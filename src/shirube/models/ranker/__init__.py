"""The default re-ranker: features of a query and a passage, and a small model learned from them."""
