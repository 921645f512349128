"""What a device may send, and what becomes of it."""

from __future__ import annotations

import json
import logging

import pytest

from vanling.core import framing
from vanling.protocols.xiaozhi import Limits, Refusal, XiaozhiTranslator
from vanling.session.frame import (
    Abort,
    AudioSpec,
    Codec,
    Detect,
    ErrorCode,
    Hello,
    ListenMode,
    ListenStart,
    ListenStop,
    Mcp,
    Opus,
    Pace,
    Text,
)

HELLO = '{"type":"hello"}'


def greeted(version: int | None = None) -> XiaozhiTranslator:
    translator = XiaozhiTranslator(version)
    translator.receive(HELLO)
    return translator


def only_refusal(items: list) -> Refusal:
    (item,) = items
    assert isinstance(item, Refusal)
    return item


@pytest.mark.parametrize(
    ("message", "frame"),
    [
        ({"type": "listen", "state": "start", "mode": "auto"}, ListenStart(mode=ListenMode.AUTO, ref="listen/start")),
        (
            {"type": "listen", "state": "start", "mode": "manual"},
            ListenStart(mode=ListenMode.MANUAL, ref="listen/start"),
        ),
        (
            {"session_id": "", "type": "listen", "state": "start", "mode": "realtime"},
            ListenStart(mode=ListenMode.REALTIME, ref="listen/start"),
        ),
        ({"type": "listen", "state": "stop"}, ListenStop(ref="listen/stop")),
        ({"type": "listen", "state": "detect", "text": "你好小智"}, Detect(text="你好小智", ref="listen/detect")),
        (
            {"type": "listen", "state": "detect", "text": "[device_call]reboot"},
            Detect(text="[device_call]reboot", ref="listen/detect"),
        ),
        ({"type": "listen", "state": "text", "text": "hi"}, Text(text="hi", ref="listen/text")),
        ({"type": "text", "text": "hi"}, Text(text="hi", ref="text")),
        ({"type": "abort"}, Abort(ref="abort")),
        ({"type": "abort", "reason": "wake_word_detected"}, Abort(reason="wake_word_detected", ref="abort")),
        ({"type": "abort", "reason": 7}, Abort(ref="abort")),
        ({"type": "mcp", "payload": {"jsonrpc": "2.0", "id": 1}}, Mcp(payload='{"jsonrpc":"2.0","id":1}', ref="mcp")),
    ],
)
def test_message_becomes_frame(message, frame):
    assert greeted().receive(json.dumps(message)) == [frame]


@pytest.mark.parametrize(
    "message",
    [
        "",
        "hello",
        "7",
        "null",
        "[]",
        '"hello"',
        "{",
        '{"type":"listen","state":"start"',
        '{"type":"abort","reason":NaN}',
        '{"type":"abort","reason":-Infinity}',
        '{"type":"abort","reason":1e999}',
        '{"type":"abort","n":' + "9" * 5_000 + "}",
        "[" * 10_000 + "]" * 10_000,
        '{"type":' * 10_000,
        '{"type":"mcp","payload":' + '{"a":' * 10_000 + "1" + "}" * 10_000 + "}",
        "{}",
        '{"type":7}',
        '{"type":null}',
        '{"type":["hello"]}',
        '{"type":"listen"}',
        '{"type":"listen","state":7}',
        '{"type":"listen","state":"sideways"}',
        '{"type":"listen","state":"detect"}',
        '{"type":"listen","state":"detect","text":7}',
        '{"type":"listen","state":"text","text":"  "}',
        '{"type":"text"}',
        '{"type":"mcp"}',
        '{"type":"mcp","payload":null}',
        '{"type":"mcp","payload":[1]}',
        '{"type":"mcp","payload":"{}"}',
    ],
    ids=lambda message: message[:40] or "empty",
)
def test_message_that_makes_no_sense_is_refused_and_the_next_one_taken(message):
    translator = greeted()
    refusal = only_refusal(translator.receive(message))
    assert refusal.code is ErrorCode.BAD_MESSAGE
    assert translator.receive('{"type":"listen","state":"stop"}') == [ListenStop(ref="listen/stop")]


def test_a_refusal_names_the_message():
    assert only_refusal(greeted().receive('{"type":"listen"}')).ref == "listen"
    assert only_refusal(greeted().receive('{"type":"listen","state":"detect"}')).ref == "listen/detect"
    assert only_refusal(greeted().receive('{"type":"mcp"}')).ref == "mcp"


@pytest.mark.parametrize("mode", [None, "", "AUTO", "handsfree", 7, ["auto"]])
def test_unknown_mode_is_auto_with_a_note(mode):
    notes = []
    translator = XiaozhiTranslator(note=lambda event, text: notes.append(event))
    message = {"type": "listen", "state": "start", "mode": mode}
    assert translator.receive(json.dumps(message)) == [ListenStart(mode=ListenMode.AUTO, ref="listen/start")]
    assert notes == ["mode_odd"]


@pytest.mark.parametrize(
    "message",
    [
        {"type": "hello", "version": "my secret"},
        {"type": "hello", "audio_params": "my secret"},
        {"type": "hello", "audio_params": {"sample_rate": "my secret"}},
        {"type": "hello", "audio_params": {"channels": "my secret"}},
        {"type": "hello", "audio_params": {"frame_duration": "my secret"}},
        {"type": "hello", "audio_params": {"format": "my secret"}},
        {"type": "hello", "version": 3},
        {"type": "listen", "state": "start", "mode": "my secret"},
        {"type": "my secret"},
    ],
    ids=json.dumps,
)
def test_what_is_odd_is_noted_without_its_value_and_never_logged_here(message, caplog):
    caplog.set_level(logging.DEBUG)
    notes = []
    XiaozhiTranslator(2, note=lambda event, text: notes.append(f"{event}: {text}")).receive(json.dumps(message))
    assert len(notes) == 1
    assert "secret" not in notes[0]
    assert caplog.records == []


@pytest.mark.parametrize("kind", ["detect", "text"])
def test_text_is_capped(kind):
    translator = XiaozhiTranslator(limits=Limits(text_chars=2_000))
    fits = json.dumps({"type": "listen", "state": kind, "text": "字" * 2_000})
    longer = json.dumps({"type": "listen", "state": kind, "text": "字" * 2_001})
    (frame,) = translator.receive(fits)
    assert isinstance(frame, Detect | Text)
    assert "2000" in only_refusal(translator.receive(longer)).message


def test_half_an_emoji_is_replaced_and_a_whole_one_joined():
    (frame,) = greeted().receive('{"type":"text","text":"a\\ud83d b\\ud83d\\ude42"}')
    assert frame == Text(text="a\ufffd b🙂", ref="text")


@pytest.mark.parametrize("kind", ["goodbye", "iot", "ping", "pong", "server", "😀"])
def test_types_without_meaning_here_are_ignored_and_counted(kind):
    translator = greeted()
    assert translator.receive(json.dumps({"type": kind, "descriptors": []})) == []
    assert translator.ignored_messages == 1


# --- hello ------------------------------------------------------------------------------------------------------


def spec(rate=16_000, channels=1, frame_ms=60.0):
    return AudioSpec(Codec.OPUS, rate, channels, frame_ms, Pace.NONE)


@pytest.mark.parametrize(
    ("params", "uplink"),
    [
        ({"format": "opus", "sample_rate": 16000, "channels": 1, "frame_duration": 60}, spec()),
        ({"format": "opus", "sample_rate": 48000, "channels": 2, "frame_duration": 20}, spec(48_000, 2, 20.0)),
        ({"sample_rate": 16000.0, "frame_duration": 2.5}, spec(frame_ms=2.5)),
        ({}, spec()),
        ({"sample_rate": 0}, spec()),
        ({"sample_rate": 44100}, spec()),
        ({"sample_rate": "16000"}, spec()),
        ({"sample_rate": True, "channels": True}, spec()),
        ({"sample_rate": [16000], "channels": {}, "frame_duration": None}, spec()),
        ({"channels": 0, "frame_duration": 0}, spec()),
        ({"channels": 7, "frame_duration": 33}, spec()),
        (None, None),
        ([], None),
        (7, None),
        ("opus", None),
    ],
)
def test_hello_is_answered_with_the_audio_that_holds(params, uplink):
    translator = XiaozhiTranslator()
    assert translator.receive(json.dumps({"type": "hello", "audio_params": params})) == [
        Hello(uplink=uplink, ref="hello")
    ]
    assert translator.greeted


@pytest.mark.parametrize("codec", ["pcm", "OPUS", "", None, 7])
def test_hello_with_another_audio_format_is_answered_and_told_so(codec):
    hello, refusal = XiaozhiTranslator().receive(json.dumps({"type": "hello", "audio_params": {"format": codec}}))
    assert hello == Hello(ref="hello")
    assert isinstance(refusal, Refusal)
    assert refusal.code is ErrorCode.BAD_AUDIO


def test_hello_of_the_browser_page():
    page = {"type": "hello", "device_id": "x", "device_mac": "AA", "features": {"mcp": True, "emoji": False}}
    assert XiaozhiTranslator().receive(json.dumps(page)) == [Hello(features=frozenset({"mcp"}), ref="hello")]


@pytest.mark.parametrize("features", [None, [], "mcp", {"mcp": 1}, {"mcp": "true"}])
def test_odd_features_are_none(features):
    message = {"type": "hello", "features": features}
    assert XiaozhiTranslator().receive(json.dumps(message)) == [Hello(ref="hello")]


@pytest.mark.parametrize(
    ("header", "hello", "effective"),
    [
        (None, None, 1),
        (None, 1, 1),
        (None, 2, 2),
        (None, 3, 3),
        (2, None, 2),
        (3, 3, 3),
        (2, 3, 2),
        (1, 3, 1),
        (7, None, 1),
        (None, 0, 1),
        (None, 7, 1),
        (None, "2", 1),
        (None, True, 1),
        (None, [2], 1),
    ],
)
def test_framing_version_is_the_headers_then_the_hellos(header, hello, effective):
    translator = XiaozhiTranslator(header)
    message = {"type": "hello"} if hello is None else {"type": "hello", "version": hello}
    translator.receive(json.dumps(message))
    assert translator.framing_version == effective


def test_a_second_hello_changes_no_framing():
    translator = XiaozhiTranslator()
    translator.receive('{"type":"hello","version":2}')
    (again,) = translator.receive('{"type":"hello","version":3,"audio_params":{"sample_rate":48000}}')
    assert isinstance(again, Hello)
    assert translator.framing_version == 2


# --- binary -----------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("version", [1, 2, 3])
@pytest.mark.parametrize("payload", [b"\x78", b"\xff", b"\x80\x04\x95", b"{}", bytes(4_000)])
def test_packet_is_taken_in_every_framing(version, payload):
    stamp = 77 if version == 2 else 0
    (frame,) = greeted(version).receive(framing.pack(version, payload, stamp))
    assert frame == Opus(packet=payload, timestamp_ms=stamp, ref="binary")


@pytest.mark.parametrize("version", [1, 2, 3])
def test_empty_packets_are_tolerated(version):
    translator = greeted(version)
    assert translator.receive(b"") == []
    assert translator.receive(framing.pack(version, b"")) == []


@pytest.mark.parametrize(
    ("version", "message"),
    [
        (2, b"\x78"),
        (2, bytes(15)),
        (2, framing.pack(2, b"abc")[:-1]),
        (2, framing.pack(2, b"abc") + b"d"),
        (2, framing.pack(3, b"abcdefghijklmnop")),
        (2, bytes.fromhex("00020000000000000000000000") + b"\xff\xff\xff\xff"),
        (3, b"\x00"),
        (3, framing.pack(3, b"abc")[:-1]),
        (3, framing.pack(3, b"abc") + b"d"),
        (3, framing.pack(2, b"abc")),
        (3, b"\x02\x00\x00\x01a"),
    ],
)
def test_header_that_does_not_fit_is_refused(version, message):
    refusal = only_refusal(greeted(version).receive(message))
    assert refusal.code is ErrorCode.BAD_AUDIO


@pytest.mark.parametrize("version", [1, 2, 3])
def test_packet_is_capped(version):
    translator = greeted(version)
    assert only_refusal(translator.receive(bytes(16 * 1024 + 1))).code is ErrorCode.BAD_AUDIO
    assert len(translator.receive(framing.pack(version, bytes(16 * 1024 - 16)))) == 1


@pytest.mark.parametrize("version", [2, 3])
def test_json_in_a_binary_frame_is_a_text_message(version):
    translator = XiaozhiTranslator(version)
    assert translator.receive(framing.pack(version, HELLO.encode(), kind=framing.JSON)) == [Hello(ref="hello")]
    bad = framing.pack(version, b"\xff\xfe", kind=framing.JSON)
    assert only_refusal(translator.receive(bad)).code is ErrorCode.BAD_MESSAGE


def test_audio_before_hello_is_refused_once_and_taken_afterwards():
    translator = XiaozhiTranslator()
    assert "hello" in only_refusal(translator.receive(b"abc")).message
    assert translator.receive(b"abc") == []
    assert translator.dropped_packets == 2
    translator.receive(HELLO)
    assert translator.receive(b"abc") == [Opus(packet=b"abc", ref="binary")]


def test_hello_in_a_binary_message_is_refused_clearly():
    translator = XiaozhiTranslator()
    assert "text message" in only_refusal(translator.receive(HELLO.encode())).message
    assert not translator.greeted
