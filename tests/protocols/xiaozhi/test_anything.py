"""Whatever a client sends, the translator answers with frames and refusals; it never raises."""

from __future__ import annotations

import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

from vanling.core import framing
from vanling.protocols.xiaozhi import Refusal, XiaozhiTranslator
from vanling.session.frame import Frame

json_values = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(),
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(st.text(), inner, max_size=4),
    max_leaves=12,
)
words = st.sampled_from(
    ["hello", "listen", "abort", "mcp", "text", "iot", "goodbye", "start", "stop", "detect", "auto", "opus"]
)
keys = st.sampled_from(["type", "state", "mode", "text", "payload", "reason", "version", "features", "audio_params"])
audio_params = st.dictionaries(st.sampled_from(["format", "sample_rate", "channels", "frame_duration"]), json_values)
near_misses = st.dictionaries(keys, words | json_values | audio_params, max_size=6)
versions = st.sampled_from([None, 1, 2, 3])


def check(translator: XiaozhiTranslator, message: str | bytes) -> None:
    for item in translator.receive(message):
        assert isinstance(item, Frame | Refusal)
        if isinstance(item, Refusal):
            wire = translator.encode(item)
            assert isinstance(wire, str)
            assert json.loads(wire)["type"] == "error"
    assert translator.receive('{"type":"listen","state":"stop"}')


@given(json_values | near_misses, versions)
def test_any_json(value, version):
    check(XiaozhiTranslator(version), json.dumps(value))


@given(st.text(st.characters()), versions)
def test_any_text(text, version):
    check(XiaozhiTranslator(version), text)


@given(st.binary(max_size=200), versions, st.booleans())
def test_any_bytes(data, version, after_hello):
    translator = XiaozhiTranslator(version)
    if after_hello:
        translator.receive('{"type":"hello"}')
    check(translator, data)


@given(near_misses, st.sampled_from([2, 3]))
def test_any_json_in_a_binary_frame(value, version):
    check(XiaozhiTranslator(version), framing.pack(version, json.dumps(value).encode(), kind=framing.JSON))


@pytest.mark.parametrize("depth", [10, 500, 900, 990, 1_000, 5_000, 100_000])
def test_any_depth(depth):
    check(XiaozhiTranslator(), '{"type":"mcp","payload":{"a":' + "[" * depth + "]" * depth + "}}")
