"""A small network: normalised inputs, a linear part, and one hidden layer beside it for what depends on what."""

from dataclasses import dataclass
from typing import ClassVar

import numpy as np
import numpy.typing as npt

Array = npt.NDArray[np.float64]
# Inputs further from the mean than so many deviations say no more.
_FAR = 5.0
_DIGITS = 9


@dataclass
class Network:
    mean: Array
    scale: Array
    linear: Array
    hidden: Array
    hidden_bias: Array
    out: Array
    bias: Array

    PARTS: ClassVar = ("mean", "scale", "linear", "hidden", "hidden_bias", "out", "bias")

    def __call__(self, table: Array) -> Array:
        """The logits without their last digits, in which a matrix product may tell equal rows apart by their place."""
        return np.round(self.judged(self.normalised(table))[0], _DIGITS)

    def normalised(self, table: Array) -> Array:
        """In deviations from the mean; what is not known is taken for the mean."""
        return np.nan_to_num(np.clip((table - self.mean) / self.scale, -_FAR, _FAR))

    def judged(self, inputs: Array) -> tuple[Array, Array]:
        """The logits of normalised inputs, and what the hidden layer gave."""
        inner = np.tanh(inputs @ self.hidden + self.hidden_bias)
        logits: Array = inputs @ self.linear + inner @ self.out + self.bias
        return logits, inner
