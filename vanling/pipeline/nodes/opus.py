"""opus: packets of the uplink to PCM at 16 kHz."""

from __future__ import annotations

import logging

from vanling.contracts.engines import MODEL_RATE
from vanling.core.opus import Decoder
from vanling.errors import AudioValueError
from vanling.pipeline.events import AudioFrame, Event, PcmFrame
from vanling.pipeline.node import NodeContext, Out, SyncNode, SyncTemplate

log = logging.getLogger(__name__)


class OpusNode(SyncNode):
    """Decodes; a packet that libopus refuses is counted, told in the log ever more rarely, and replaced by concealment.

    libopus decodes any packet to the rate it is asked for, so the decoder runs at the models' rate and the client's
    announced rate, frame length and channel count do not matter: the packet is trusted, not the hello.
    """

    def __init__(self, session_id: str) -> None:
        self._decoder = Decoder(MODEL_RATE)
        self._session_id = session_id
        self.bad_packets = 0

    def push(self, event: Event, out: Out) -> None:
        if type(event) is not AudioFrame:
            out(event)
            return
        try:
            pcm = self._decoder.decode(event.packet)
        except AudioValueError as error:
            self._note_bad(error)
            # Lost audio is still time: silence confirmation counts samples, so the gap must be filled.
            pcm = self._decoder.decode(None)
        out(PcmFrame(pcm, event.arrived_ns))

    def _note_bad(self, error: AudioValueError) -> None:
        self.bad_packets += 1
        if self.bad_packets & (self.bad_packets - 1) == 0:  # the 1st, 2nd, 4th …: one client must not fill the log
            log.warning(
                "undecodable packet",
                extra={
                    "component": "OPUS",
                    "event": "opus_decode_error",
                    "session_id": self._session_id,
                    "reason": str(error),
                    "bad_packets": self.bad_packets,
                },
            )


class OpusTemplate(SyncTemplate):
    def new_instance(self, context: NodeContext) -> OpusNode:
        return OpusNode(context.session_id)
