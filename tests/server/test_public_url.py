"""The address that a device is told, by what is known."""

from __future__ import annotations

import re

import pytest
from hypothesis import given
from hypothesis import strategies as st

from vanling.errors import ConfigError
from vanling.server.public_url import Reached, from_public_url, is_trusted, websocket_url

PATH = "/xiaozhi/v1/"


def url(headers, *, public_url="", trusted=(), secure=False, local="192.168.1.10", lan="10.0.0.9"):
    reached = Reached(headers, secure, "172.17.0.1", local, 8080)
    return websocket_url(PATH, reached, public_url, trusted, lan)


@pytest.mark.parametrize(
    ("headers", "options", "expected"),
    [
        ({"host": "192.168.1.10:8080"}, {}, "ws://192.168.1.10:8080/xiaozhi/v1/"),
        ({"host": "192.168.1.10"}, {}, "ws://192.168.1.10:8080/xiaozhi/v1/"),
        ({"host": "vanling.local:9000"}, {"secure": True}, "wss://vanling.local:9000/xiaozhi/v1/"),
        ({}, {}, "ws://192.168.1.10:8080/xiaozhi/v1/"),
        ({"host": "[::1]:8080"}, {"local": "::1"}, "ws://10.0.0.9:8080/xiaozhi/v1/"),
        ({}, {"local": "::ffff:192.168.1.7"}, "ws://192.168.1.7:8080/xiaozhi/v1/"),
        ({"host": "[fe80::1]"}, {}, "ws://192.168.1.10:8080/xiaozhi/v1/"),
        ({"host": "evil/path"}, {}, "ws://192.168.1.10:8080/xiaozhi/v1/"),
        ({"host": "a@b"}, {}, "ws://192.168.1.10:8080/xiaozhi/v1/"),
        ({"host": "a:99999"}, {}, "ws://192.168.1.10:8080/xiaozhi/v1/"),
        ({"host": "a:b:c"}, {}, "ws://192.168.1.10:8080/xiaozhi/v1/"),
        ({"host": "x", "x-forwarded-host": "y"}, {}, "ws://x:8080/xiaozhi/v1/"),
        ({"host": "x", "x-forwarded-host": "y"}, {"trusted": ("*",)}, "ws://y:80/xiaozhi/v1/"),
        (
            {"host": "x", "x-forwarded-host": "y:8443, z", "x-forwarded-proto": "https,http"},
            {"trusted": ("172.16.0.0/12",)},
            "wss://y:8443/xiaozhi/v1/",
        ),
        (
            {"host": "y", "x-forwarded-proto": "https", "x-forwarded-port": "8443"},
            {"trusted": ("172.17.0.1",)},
            "wss://y:8443/xiaozhi/v1/",
        ),
        ({"host": "x:1"}, {"trusted": ("*",)}, "ws://x:1/xiaozhi/v1/"),
        ({"host": "x"}, {"public_url": "http://voice:8080/"}, "ws://voice:8080/xiaozhi/v1/"),
    ],
)
def test_address(headers, options, expected):
    assert url(headers, **options) == expected


@given(st.text(), st.text(), st.text(), st.booleans())
def test_no_header_makes_an_address_that_a_device_misreads(host, forwarded, scheme, trusts):
    headers = {"host": host, "x-forwarded-host": forwarded, "x-forwarded-proto": scheme}
    address = url(headers, trusted=("*",) if trusts else ())
    assert re.fullmatch(r"wss?://[A-Za-z0-9_.-]+:\d{1,5}/xiaozhi/v1/", address)


@pytest.mark.parametrize(
    ("public_url", "expected"),
    [
        ("https://voice.example.com", "wss://voice.example.com/xiaozhi/v1/"),
        ("http://voice.example.com:81/", "ws://voice.example.com:81/xiaozhi/v1/"),
        ("wss://v/sub/path/", "wss://v/sub/path/xiaozhi/v1/"),
        ("https://v/a:b", "wss://v:443/a:b/xiaozhi/v1/"),
    ],
)
def test_public_url(public_url, expected):
    assert from_public_url(public_url, PATH) == expected


@pytest.mark.parametrize(
    "public_url",
    [
        "voice.example.com",
        "ftp://v",
        "https://",
        "https://[::1]",
        "https://[",
        "https://u:p@v",
        "https://v?x=1",
        "https://v:99999",
        "https://v:x",
        "https://a b",
    ],
)
def test_public_url_that_no_device_could_read_is_refused(public_url):
    with pytest.raises(ConfigError, match=r"server\.public_url"):
        from_public_url(public_url, PATH)


@pytest.mark.parametrize(
    ("peer", "trusted", "ok"),
    [
        ("10.0.0.1", (), False),
        ("10.0.0.1", ("10.0.0.1",), True),
        ("10.0.0.1", ("10.0.0.0/24",), True),
        ("10.0.1.1", ("10.0.0.0/24",), False),
        ("::ffff:10.0.0.1", ("10.0.0.1",), True),
        ("fd00::1", ("fd00::/8", "10.0.0.0/8"), True),
        ("", ("10.0.0.1",), False),
        ("10.0.0.1", ("nonsense", "10.0.0.1"), True),
        ("unix", ("*",), True),
    ],
)
def test_trusted_proxies(peer, trusted, ok):
    assert is_trusted(peer, trusted) is ok
