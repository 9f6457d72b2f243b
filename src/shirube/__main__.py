"""`python -m shirube` is `shirube`."""

from shirube.cli.main import main

main()
