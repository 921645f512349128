"""The bootstrap over HTTP, as three kinds of client ask for it."""

from __future__ import annotations

import asyncio
import json
import logging

import httpx
import pytest

ROUTES = ["/xiaozhi/ota", "/xiaozhi/ota/", "/api/ota", "/api/ota/"]
DEVICE = {
    "Device-Id": "aa:bb:cc:dd:ee:ff",
    "Client-Id": "1b4e28ba",
    "User-Agent": "bread-compact-wifi/2.4.2",
    "Activation-Version": "1",
    "Accept-Language": "zh-CN",
}


@pytest.mark.parametrize("route", ROUTES)
async def test_a_device_is_told_where_to_connect(serve, route):
    running = await serve()
    async with httpx.AsyncClient() as client:
        body = {"version": 2, "application": {"name": "xiaozhi", "version": "2.4.1"}}
        response = await client.post(running.http + route, headers=DEVICE, json=body)
    assert response.status_code == 200
    assert response.headers["content-type"] == "application/json"
    assert response.headers["content-length"] == str(len(response.content))
    assert "content-encoding" not in response.headers
    assert "transfer-encoding" not in response.headers
    reply = response.json()
    assert reply["websocket"] == {"url": f"ws://127.0.0.1:{running.port}/xiaozhi/v1/", "token": "", "version": 1}
    assert reply["firmware"] == {"version": "2.4.1", "url": "", "force": 0}
    assert "mqtt" not in reply
    assert "activation" not in reply


async def test_the_url_that_is_handed_out_works(serve):
    running = await serve()
    async with httpx.AsyncClient() as client:
        url = (await client.post(running.http + "/xiaozhi/ota/", headers=DEVICE)).json()["websocket"]["url"]
    async with running.connect(url.removeprefix(f"ws://127.0.0.1:{running.port}")):
        assert (await running.sessions.next()).who.door == "xiaozhi"


@pytest.mark.parametrize("body", [b"", b"{", b'{"board":{"ssid":"a "b""}}', b"\xff", b"[1]"])
async def test_a_body_that_is_no_json_is_no_matter(serve, body):
    running = await serve()
    async with httpx.AsyncClient() as client:
        response = await client.post(running.http + "/xiaozhi/ota", headers=DEVICE, content=body)
    assert response.status_code == 200
    assert response.json()["firmware"]["version"] == "2.4.2"


async def test_a_body_has_a_limit(serve):
    running = await serve()
    async with httpx.AsyncClient() as client:
        response = await client.post(running.http + "/xiaozhi/ota", content=bytes(100_000))
    assert response.status_code == 413


@pytest.mark.parametrize("route", [*ROUTES, "/xiaozhi/ota/activate", "/api/ota/activate/"])
async def test_a_browser_may_ask_from_anywhere(serve, route):
    running = await serve()
    ask = {
        "Origin": "http://localhost:8006",
        "Access-Control-Request-Method": "POST",
        "Access-Control-Request-Headers": "client-id,content-type,device-id",
    }
    async with httpx.AsyncClient() as client:
        preflight = await client.options(running.http + route, headers=ask)
        answer = await client.post(running.http + route, headers={"Origin": ask["Origin"]})
    assert preflight.status_code in (200, 204)
    assert "POST" in preflight.headers["access-control-allow-methods"]
    allowed = {name.strip() for name in preflight.headers["access-control-allow-headers"].lower().split(",")}
    assert {"client-id", "content-type", "device-id", "authorization"} <= allowed
    assert answer.headers["access-control-allow-origin"] == preflight.headers["access-control-allow-origin"] == "*"


@pytest.mark.parametrize("route", ["/xiaozhi/ota/activate", "/xiaozhi/ota/activate/", "/api/ota/activate"])
async def test_activation_is_always_done(serve, route):
    running = await serve()
    async with httpx.AsyncClient() as client:
        response = await client.post(running.http + route, json={"Payload": {"challenge": "x"}})
    assert (response.status_code, response.json()) == (200, {})


async def test_a_person_who_looks_sees_the_address(serve):
    running = await serve()
    async with httpx.AsyncClient() as client:
        response = await client.get(running.http + "/xiaozhi/ota/")
    assert f"ws://127.0.0.1:{running.port}/xiaozhi/v1/" in response.text


async def test_a_device_address_opened_without_an_upgrade_says_what_it_is(serve):
    running = await serve()
    async with httpx.AsyncClient() as client:
        response = await client.get(running.http + "/xiaozhi/v1/")
    assert (response.status_code, response.headers["upgrade"]) == (426, "websocket")


async def test_the_bootstrap_is_open_though_a_token_is_required_and_gives_none_away(serve):
    running = await serve(auth_required=True, tokens=frozenset({"s3cret"}))
    async with httpx.AsyncClient() as client:
        response = await client.post(running.http + "/xiaozhi/ota/", headers=DEVICE)
    assert response.status_code == 200
    assert "s3cret" not in response.text


@pytest.mark.parametrize(
    ("settings", "headers", "url"),
    [
        ({"public_url": "https://voice.example.com"}, {}, "wss://voice.example.com/xiaozhi/v1/"),
        ({}, {"X-Forwarded-Host": "evil.example", "X-Forwarded-Proto": "https"}, "ws://127.0.0.1:PORT/xiaozhi/v1/"),
        (
            {"forwarded_allow": ("127.0.0.0/8",)},
            {"X-Forwarded-Host": "voice.example.com", "X-Forwarded-Proto": "https"},
            "wss://voice.example.com:443/xiaozhi/v1/",
        ),
        ({}, {"Host": "vanling.local"}, "ws://vanling.local:PORT/xiaozhi/v1/"),
    ],
)
async def test_address_follows_settings_and_headers(serve, settings, headers, url):
    running = await serve(**settings)
    async with httpx.AsyncClient() as client:
        response = await client.post(running.http + "/xiaozhi/ota/", headers=headers)
    assert response.json()["websocket"]["url"] == url.replace("PORT", str(running.port))


async def test_a_device_that_speaks_plain_http_1_1_with_connection_close(serve):
    running = await serve()
    reader, writer = await asyncio.open_connection("127.0.0.1", running.port)
    writer.write(b"POST /xiaozhi/ota/ HTTP/1.1\r\nHost: 127.0.0.1\r\nConnection: close\r\nContent-Length: 2\r\n\r\n{}")
    head, _, body = (await asyncio.wait_for(reader.read(), 10)).partition(b"\r\n\r\n")
    assert head.startswith(b"HTTP/1.1 200 OK\r\n")
    assert b"content-length: %d" % len(body) in head.lower()
    assert json.loads(body)["websocket"]["url"] == f"ws://127.0.0.1:{running.port}/xiaozhi/v1/"
    writer.close()


@pytest.mark.parametrize(
    ("headers", "body", "device_id"),
    [
        ({"Device-Id": "AA:BB:CC:DD:EE:FF"}, {}, "aa:bb:cc:dd:ee:ff"),
        ({}, {"mac_address": "aa:bb:cc:dd:ee:ff"}, "aa:bb:cc:dd:ee:ff"),
        ({"Device-Id": "x" * 60_000}, {}, ""),
        ({}, {"mac_address": "x" * 20_000}, ""),
        ({}, {"mac_address": "a\nINFO forged line"}, ""),
    ],
)
async def test_only_a_name_goes_into_the_log(serve, caplog, headers, body, device_id):
    caplog.set_level(logging.INFO)
    running = await serve()
    body = body | {"application": {"version": "1." * 20_000}}
    async with httpx.AsyncClient() as client:
        response = await client.post(running.http + "/xiaozhi/ota/", headers=headers, json=body)
    assert response.status_code == 200
    (record,) = [record for record in caplog.records if getattr(record, "event", "") == "ota_request"]
    assert (record.device_id, record.firmware) == (device_id, "")
