"""Who gets through the door: tokens, paths, pages of other sites."""

from __future__ import annotations

import pytest
from websockets.exceptions import InvalidStatus

from vanling.server.auth import Auth, bearer
from vanling.server.origin import origin_allowed

TOKEN = {"Authorization": "Bearer s3cret"}
WITH_AUTH = {"auth_required": True, "tokens": frozenset({"s3cret", "other"})}


async def status_of(connecting) -> int:
    try:
        async with connecting:
            return 101
    except InvalidStatus as error:
        response = error.response
        assert response.headers["Content-Length"] == str(len(response.body))
        return response.status_code


@pytest.mark.parametrize(
    ("settings", "path", "headers", "status"),
    [
        ({}, "/xiaozhi/v1/", {}, 101),
        ({}, "/xiaozhi/v1/", {"Authorization": "Bearer test-token"}, 101),
        ({}, "/nowhere", {}, 404),
        ({}, "/xiaozhi/v1//", {}, 404),
        ({}, "/", {}, 404),
        (WITH_AUTH, "/xiaozhi/v1/", TOKEN, 101),
        (WITH_AUTH, "/xiaozhi/v1/", {"Authorization": "Bearer other"}, 101),
        (WITH_AUTH, "/xiaozhi/v1/", {"Authorization": "s3cret"}, 101),
        (WITH_AUTH, "/xiaozhi/v1/?authorization=Bearer+s3cret", {}, 101),
        (WITH_AUTH, "/xiaozhi/v1/?authorization=Bearer%20s3cret", {}, 101),
        (WITH_AUTH, "/xiaozhi/v1/", {}, 401),
        (WITH_AUTH, "/xiaozhi/v1/", {"Authorization": "Bearer "}, 401),
        (WITH_AUTH, "/xiaozhi/v1/", {"Authorization": "Bearer S3CRET"}, 401),
        (WITH_AUTH, "/xiaozhi/v1/", {"Device-Id": "aa:bb:cc:dd:ee:ff"}, 401),
        (WITH_AUTH, "/nowhere", {}, 401),
        (WITH_AUTH, "/nowhere", TOKEN, 404),
        ({}, "/xiaozhi/v1/", {"Origin": "https://evil.example"}, 403),
        ({"allowed_origins": ("https://evil.example",)}, "/xiaozhi/v1/", {"Origin": "https://evil.example"}, 101),
        (WITH_AUTH, "/xiaozhi/v1/", TOKEN | {"Origin": "https://elsewhere.example"}, 101),
    ],
)
async def test_upgrade_is_answered_with(serve, settings, path, headers, status):
    running = await serve(**settings)
    assert await status_of(running.connect(path, headers=headers)) == status
    assert len(running.sessions.all) == (status == 101)


@pytest.mark.parametrize(
    ("origin", "host", "allowed", "ok"),
    [
        (None, "192.168.1.5:8080", (), True),
        ("http://192.168.1.5:8080", "192.168.1.5:8080", (), True),
        ("http://192.168.1.5", "192.168.1.5:8080", (), True),
        ("http://[fd00::1]:8080", "[fd00::1]:8080", (), True),
        ("http://vanling.local:8080", "vanling.local:8080", (), True),
        ("http://box:8080", "box:8080", (), True),
        ("http://localhost:8006", "192.168.1.5:8080", (), True),
        ("http://127.0.0.1:8006", "192.168.1.5:8080", (), True),
        ("http://[::1]", "192.168.1.5:8080", (), True),
        ("https://voice.example.com", "voice.example.com", (), True),
        ("http://192.168.1.6", "192.168.1.5:8080", (), False),
        ("https://evil.example", "192.168.1.5:8080", (), False),
        ("http://rebound.evil.example:8080", "rebound.evil.example:8080", (), False),
        ("http://localhost.evil.example", "192.168.1.5:8080", (), False),
        ("null", "192.168.1.5:8080", (), False),
        ("file://", "192.168.1.5:8080", (), False),
        ("", "192.168.1.5:8080", (), False),
        ("http://[", "192.168.1.5:8080", (), False),
        ("https://evil.example", "", (), False),
        ("null", "192.168.1.5:8080", ("null",), True),
        ("https://evil.example", "192.168.1.5:8080", ("*",), True),
        ("https://evil.example", "192.168.1.5:8080", ("https://good.example",), False),
    ],
)
def test_origin_of_a_page(origin, host, allowed, ok):
    assert origin_allowed(origin, host, allowed, "https://voice.example.com") is ok


@pytest.mark.parametrize(
    ("value", "token"),
    [
        ("Bearer abc", "abc"),
        ("bearer  abc ", "abc"),
        ("abc", "abc"),
        ("Bearer", "Bearer"),
        ("Basic abc", "Basic abc"),
        ("", ""),
    ],
)
def test_token_of_an_authorization(value, token):
    assert bearer(value) == token


@pytest.mark.parametrize(
    ("auth", "headers", "ok"),
    [
        (Auth(False), {}, True),
        (Auth(False), {"authorization": "anything"}, True),
        (Auth(True), {}, False),
        (Auth(True), {"authorization": "Bearer x"}, False),
        (Auth(True, frozenset({""})), {"authorization": ""}, False),
        (Auth(True, frozenset({"päss"})), {"authorization": "Bearer päss"}, True),
        (Auth(True, frozenset({"x"})), {"authorization": "Bearer \ud800"}, False),
    ],
)
def test_auth(auth, headers, ok):
    assert auth.check(headers, {}) is ok
