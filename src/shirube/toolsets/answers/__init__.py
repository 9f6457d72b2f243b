"""One answer to a question, with what it rests on."""
