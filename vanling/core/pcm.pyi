"""PCM conversions and levels. Full scale is 32768 in int16 and 1.0 in float32.

Arrays are C-contiguous and of any shape unless said; AudioTypeError and AudioValueError say what else was passed. All
results are new arrays.
"""

from typing import Final, TypeVar

import numpy as np
import numpy.typing as npt

SILENCE_DBFS: Final[float]
"""What level_dbfs calls silence, -120."""

_Sample = TypeVar("_Sample", np.int16, np.float32)

def int16_to_float32(pcm: npt.NDArray[np.int16]) -> npt.NDArray[np.float32]:
    """int16 to float32 in [-1, 1)."""

def float32_to_int16(pcm: npt.NDArray[np.float32]) -> npt.NDArray[np.int16]:
    """float32 to int16, rounded to nearest; beyond full scale and infinite saturate, NaN becomes 0."""

def rms(pcm: npt.NDArray[_Sample]) -> float:
    """Root mean square as a part of full scale, over all channels; 0.0 for no samples, NaN if a sample is NaN."""

def level_dbfs(pcm: npt.NDArray[_Sample]) -> float:
    """RMS level in dB of full scale, SILENCE_DBFS at the least (a full-scale sine has -3.01); so is a NaN."""

def fade_out(pcm: npt.NDArray[_Sample], n_samples: int) -> npt.NDArray[_Sample]:
    """A copy of (n,) or (n, channels) whose last n_samples per channel fall linearly to zero; all of it if it is
    shorter."""
