"""Opus packets to int16 PCM and back, on the libopus that ships beside this module.

An object belongs to one stream and one thread at a time. libopus runs without the interpreter lock, so streams run in
parallel; a second thread that enters an object in use gets an AudioValueError, never a corrupted state.
"""

from typing import Final, final

import numpy as np
import numpy.typing as npt
from typing_extensions import Buffer

RATES: Final[tuple[int, ...]]
"""Sampling rates of Opus in Hz (RFC 6716 §2.1.1)."""

FRAME_MS: Final[tuple[float, ...]]
"""Packet durations in ms that libopus encodes; 5 to 120 are those of xiaozhi-esp32's decoder."""

def opus_version() -> str:
    """The version string of the libopus in use ("unknown" where its build was not told)."""

@final
class Decoder:
    """Decodes one stream of packets."""

    def __init__(self, rate: int, channels: int = 1) -> None:
        """
        rate: output rate in Hz, one of RATES; any packet decodes at any of them.
        channels: 1 or 2; a stereo packet is mixed down, a mono packet doubled.

        Raises AudioValueError, AudioTypeError.
        """

    @property
    def rate(self) -> int:
        """Output rate in Hz."""

    @property
    def channels(self) -> int:
        """Output channels, 1 or 2."""

    @property
    def last_duration_ms(self) -> float:
        """Duration of the last packet in ms, which is how long a loss is taken to be; 60 before the first."""

    def decode(self, packet: Buffer | None) -> npt.NDArray[np.int16]:
        """One packet to PCM; None or an empty packet conceals one loss of the last packet's duration.

        packet: 2.5 to 120 ms, of one or more frames, up to 64 KiB (RFC 6716 §3.2 ends at 61 298 bytes).
        Returns a new array (n,), or (n, 2) for two channels, where n is what the packet says of itself: count time by
        it, not by what the stream announced.

        Raises OpusError with libopus' code for a packet that is none; the decoder stays usable, as if that packet
        had never come. About half of all random bytes are decodable (and noise): this is no filter. Raises
        AudioTypeError for anything but bytes.
        """

    def reset(self) -> None:
        """Forget the stream, as if newly made."""

@final
class Encoder:
    """Encodes one stream of speech (libopus' VOIP application, variable bitrate)."""

    def __init__(
        self, rate: int, channels: int = 1, frame_ms: float = 60, bitrate: int = 24000, complexity: int = 5
    ) -> None:
        """
        rate: input rate in Hz, one of RATES.
        channels: 1 or 2.
        frame_ms: duration of each packet, one of FRAME_MS (at 12 kHz from 5 ms: libopus encodes 2.5 at a wrong pitch).
        bitrate: mean bits per second, 6000 to 510000.
        complexity: 0 (cheapest) to 10 (best); 5 costs about half of 10.

        Raises AudioValueError, AudioTypeError.
        """

    @property
    def rate(self) -> int:
        """Input rate in Hz."""

    @property
    def channels(self) -> int:
        """Input channels, 1 or 2."""

    @property
    def frame_ms(self) -> float:
        """Duration of each packet in ms."""

    @property
    def frame_samples(self) -> int:
        """Samples per channel of each packet."""

    @property
    def bitrate(self) -> int:
        """Mean bits per second."""

    @property
    def complexity(self) -> int:
        """0 to 10."""

    @property
    def lookahead(self) -> int:
        """Samples per channel by which a decoder's output lags behind the input (at 16 kHz 104, 6.5 ms)."""

    def encode(self, pcm: npt.NDArray[np.int16]) -> list[bytes]:
        """Take any number of samples; return the packets that they complete, often none.

        pcm: (n,), or (n, 2) for two channels; int16, C-contiguous. Chunk borders do not change the packets.

        Raises AudioTypeError, AudioValueError.
        """

    def flush(self) -> list[bytes]:
        """The packet of the samples that still wait, [] if none do.

        They fade out over their last 5 ms and are filled up with silence. As the decoder lags by the lookahead, samples
        in the last 6.5 ms of the frame would not be heard any more; the fade ends before. The next encode() goes on in
        the same stream.
        """

    def reset(self) -> None:
        """Drop the samples that wait and forget the stream, as if newly made."""
