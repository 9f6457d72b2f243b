"""What a model does wrong. Not a `ShirubeError`: no caller caused it, so a stage of the pipeline fails and says so."""


class ModelError(Exception):
    """A model gave no answer, or one that cannot be used.

    `model` is its setting. Neither that nor `reason` ever holds a key, a text that was sent or words of the other side,
    which may quote both.
    """

    def __init__(self, model: str, reason: str) -> None:
        super().__init__(f"{model}: {reason}")
        self.model = model
        self.reason = reason
