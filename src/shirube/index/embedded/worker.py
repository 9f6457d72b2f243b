"""What a tokenising child process does; it loads nothing that tokens do not need."""

import gc
import os
import pickle
import signal
import sys

from shirube.index.embedded.tokens import tokens_of_batch
from shirube.text.tokenize import words


def work() -> None:
    """Answer batch after batch until the parent closes the pipe or dies. An interrupt is the parent's to handle."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    gc.disable()  # what is made here has no cycles
    source, answers = sys.stdin.buffer, sys.stdout.buffer
    words("準備")  # loads the dictionary while the parent is still reading
    try:
        while True:
            texts, phrases = pickle.load(source)
            pickle.dump(tokens_of_batch(texts, phrases), answers, pickle.HIGHEST_PROTOCOL)
            answers.flush()
    except (EOFError, BrokenPipeError, pickle.UnpicklingError):
        os._exit(0)
