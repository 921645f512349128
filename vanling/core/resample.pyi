"""Streaming sample rate conversion by a polyphase FIR with a short, compensated delay.

Into 16 kHz: at most 1.1 ms of delay, 0.1 dB of ripple up to 6.5 kHz, alias at least 85 dB down from 9 kHz on; other
pairs likewise, in proportion to the lower of the two rates. An object belongs to one stream and one thread at a time.
"""

from typing import Final, TypeVar, final

import numpy as np
import numpy.typing as npt

RATES: Final[tuple[int, ...]]
"""Rates in Hz, each of which converts to each."""

_Sample = TypeVar("_Sample", np.int16, np.float32)

@final
class Resampler:
    """Converts one mono stream.

    In all, n samples in give round(n * rate_out / rate_in) samples out, aligned in time with the input. The result does
    not depend, to the bit, on how the input was cut into chunks.
    """

    def __init__(self, rate_in: int, rate_out: int) -> None:
        """Both in Hz, out of RATES; two equal rates pass the samples through.

        Raises AudioValueError, AudioTypeError.
        """

    @property
    def rate_in(self) -> int:
        """Input rate in Hz."""

    @property
    def rate_out(self) -> int:
        """Output rate in Hz."""

    @property
    def delay_ms(self) -> float:
        """How far the input must run ahead of the output: 0 to 2 ms."""

    def process(self, pcm: npt.NDArray[_Sample]) -> npt.NDArray[_Sample]:
        """Take a chunk of any size; return what can be made of it, possibly nothing.

        pcm: (n,), int16 or float32, C-contiguous; one dtype throughout a stream. Returns a new array of that dtype.
        int16 saturates. A NaN or infinity in float32 spoils the samples within ``delay_ms`` of it and no others.

        Raises AudioTypeError, AudioValueError.
        """

    def flush(self) -> npt.NDArray[np.int16] | npt.NDArray[np.float32]:
        """The samples that still waited for input, of the stream's dtype; the next process() begins a new stream."""

    def reset(self) -> None:
        """Forget the stream, as if newly made."""
