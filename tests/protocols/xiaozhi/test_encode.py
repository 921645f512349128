"""What a device is sent."""

from __future__ import annotations

import json

import pytest

from vanling.core import framing
from vanling.protocols.xiaozhi import Refusal, XiaozhiTranslator
from vanling.protocols.xiaozhi.emotions import EMOJI
from vanling.protocols.xiaozhi.outbound import ERROR_CODES
from vanling.session.frame import (
    Audio,
    AudioSpec,
    CloseOut,
    Emotion,
    Error,
    ErrorCode,
    Heard,
    HelloReply,
    McpOut,
    ReplyDone,
    ReplyStatus,
    Sentence,
    SentenceEnd,
    TtsStart,
    TtsStop,
)


@pytest.mark.parametrize(
    ("out", "wire"),
    [
        (
            HelloReply(session_id="s1", downlink=AudioSpec()),
            {
                "type": "hello",
                "version": 1,
                "transport": "websocket",
                "audio_params": {"format": "opus", "sample_rate": 24000, "channels": 1, "frame_duration": 60},
            },
        ),
        (
            HelloReply(session_id="s1", downlink=None),
            {"type": "hello", "version": 1, "transport": "websocket", "audio_params": None},
        ),
        (Heard(text="早上好"), {"type": "stt", "text": "早上好"}),
        (Emotion(name="happy"), {"type": "llm", "emotion": "happy", "text": "🙂"}),
        (Emotion(name="smug"), {"type": "llm", "emotion": "neutral", "text": "😶"}),
        (TtsStart(), {"type": "tts", "state": "start"}),
        (Sentence(text='He said "hi".'), {"type": "tts", "state": "sentence_start", "text": 'He said "hi".'}),
        (SentenceEnd(text="x"), {"type": "tts", "state": "sentence_end", "text": "x"}),
        (TtsStop(), {"type": "tts", "state": "stop"}),
        (McpOut(payload='{"jsonrpc":"2.0","id":1}'), {"type": "mcp", "payload": {"jsonrpc": "2.0", "id": 1}}),
        (Error(code=ErrorCode.LLM_EMPTY, message="m"), {"type": "error", "code": 504007, "message": "m"}),
        (Error(code=ErrorCode.TTS_FAILED, message="m"), {"type": "error", "code": 504002, "message": "m"}),
        (Refusal(ErrorCode.BAD_MESSAGE, "m", "listen"), {"type": "error", "code": 504001, "message": "m"}),
    ],
)
def test_message_is_written_with_its_session(out, wire):
    text = XiaozhiTranslator(session_id="s1").encode(out)
    assert isinstance(text, str)
    assert json.loads(text) == {"session_id": "s1", **wire}


@pytest.mark.parametrize("out", [ReplyDone(status=ReplyStatus.COMPLETED), CloseOut(reason="done")])
def test_what_the_protocol_does_not_carry_is_not_sent(out):
    assert XiaozhiTranslator().encode(out) is None


def test_the_hello_reply_names_the_session_for_all_that_follows():
    translator = XiaozhiTranslator()
    translator.encode(HelloReply(session_id="later", downlink=None))
    assert json.loads(translator.encode(TtsStart()))["session_id"] == "later"


def test_every_error_has_a_number_of_the_field():
    assert set(ERROR_CODES) == set(ErrorCode)
    assert set(ERROR_CODES.values()) <= set(range(504_001, 504_008))


def test_there_are_the_firmwares_21_faces():
    names = (
        "neutral happy laughing funny sad angry crying loving embarrassed surprised shocked thinking winking cool "
        "relaxed delicious kissy confident sleepy silly confused"
    )
    assert list(EMOJI) == names.split()


@pytest.mark.parametrize("version", [1, 2, 3])
def test_audio_is_framed_and_stamped_with_its_end(version):
    translator = XiaozhiTranslator(version)
    stamps = []
    for _ in range(3):
        kind, stamp, payload = framing.unpack(version, translator.encode(Audio(packet=b"abc", duration_ms=60.0)))
        assert (kind, payload) == (framing.OPUS, b"abc")
        stamps.append(stamp)
    assert stamps == ([60, 120, 180] if version == 2 else [0, 0, 0])


def test_text_cut_inside_an_emoji_can_still_be_sent():
    text = XiaozhiTranslator().encode(Sentence(text="ok \ud83d"))
    assert text.encode()
    assert json.loads(text)["text"] == "ok \ufffd"


@pytest.mark.parametrize("payload", ["", "[]", "{", "NaN", "null"])
def test_mcp_that_is_no_object_is_never_sent(payload):
    assert XiaozhiTranslator().encode(McpOut(payload=payload)) is None
