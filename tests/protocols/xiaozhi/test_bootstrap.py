"""The bootstrap reply: what it holds, and what it must never hold."""

from __future__ import annotations

import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

from vanling.protocols.xiaozhi.bootstrap import BootRequest, ServerFacts, boot_reply, read_boot_request

FACTS = ServerFacts("ws://192.168.1.10:8080/xiaozhi/v1/", 1_767_139_200_000, 480)
HEADERS = {"device-id": "aa:bb:cc:dd:ee:ff", "client-id": "uuid-1", "user-agent": "bread-compact-wifi/2.4.2"}


def test_reply_to_a_device():
    body = json.dumps({"application": {"version": "2.4.1"}}).encode()
    assert boot_reply(read_boot_request(HEADERS, body), FACTS) == {
        "server_time": {"timestamp": 1_767_139_200_000, "timezone_offset": 480},
        "firmware": {"version": "2.4.1", "url": "", "force": 0},
        "websocket": {"url": "ws://192.168.1.10:8080/xiaozhi/v1/", "token": "", "version": 1},
    }


@pytest.mark.parametrize(
    "body",
    [b"", b"{", b'{"board":{"ssid":"my "wifi""}}', b"\xff\xfe", b"[]", b"null", b'{"application":7}', b"[" * 9999],
)
def test_body_that_is_no_json_leaves_the_headers(body):
    request = read_boot_request(HEADERS, body)
    assert request == BootRequest("aa:bb:cc:dd:ee:ff", "uuid-1", "2.4.2")


def test_body_serves_where_headers_are_missing():
    body = b'{"mac_address":"aa","uuid":"u","application":{"version":"1.0"}}'
    assert read_boot_request({}, body) == BootRequest("aa", "u", "1.0")


@pytest.mark.parametrize(
    ("version", "echoed"),
    [
        ("2.4.2", "2.4.2"),
        ("2", "2"),
        ("1.2.3.4", "1.2.3.4"),
        ("v2.1", "0.0.0"),
        ("latest", "0.0.0"),
        ("1.a", "0.0.0"),
        ("1..2", "0.0.0"),
        ("1.2.", "0.0.0"),
        ("1.2\n", "0.0.0"),
        ("99999999999", "0.0.0"),
        ("１.２", "0.0.0"),
        ("", "0.0.0"),
        (7, "2.4.2"),
        (None, "2.4.2"),
    ],
)
def test_only_dotted_integers_are_echoed(version, echoed):
    body = json.dumps({"application": {"version": version}}).encode()
    assert boot_reply(read_boot_request(HEADERS, body), FACTS)["firmware"]["version"] == echoed


@given(st.dictionaries(st.sampled_from(list(HEADERS)), st.text()), st.binary())
def test_every_request_gets_a_reply_that_no_client_chokes_on(headers, body):
    reply = boot_reply(read_boot_request(headers, body), FACTS)
    assert set(reply) == {"server_time", "firmware", "websocket"}
    for section in reply.values():
        assert all(value is not None and not isinstance(value, bool) for value in section.values())
        assert all(len(key) <= 15 for key in section)
    assert all(part.isdecimal() and int(part) < 2**31 for part in reply["firmware"]["version"].split("."))
