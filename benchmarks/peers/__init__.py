"""Other search engines on the same data, in a virtual environment of their own.

A peer is one module here with `open_peer(folder, cache)`, named in `contract.PEERS`. Everything it needs, down to the
last dependency, stands in requirements.txt, or in a requirements-NAME.txt of its own, which gives it an environment
apart from the rest. Of the repository it sees `benchmarks` and the sources of `shirube`, not what these depend on.
"""
