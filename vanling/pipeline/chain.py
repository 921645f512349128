"""The chain: nodes in order, in two halves, with taps before and after each node.

The hearing half is one continuous stream and outlives the rounds; a reply half is made for each reply and dies with
it. To the outside both keep the order of their templates.
"""

from __future__ import annotations

import asyncio
from collections.abc import AsyncGenerator, AsyncIterator, Callable, Sequence
from contextlib import aclosing

from vanling.pipeline.events import Event
from vanling.pipeline.node import AsyncNode, AsyncTemplate, NodeContext, Out, SyncNode, SyncTemplate

Tap = Callable[[str, str, Event], None]
"""Called with (``before`` | ``after``, the node's class name, the event)."""

QUEUE_EVENTS = 2
"""Events between two reply nodes: enough that neither waits for a wake-up, so few that none runs far ahead."""


class HearingHalf:
    """The sync nodes of a session, joined once; :meth:`push` runs an event through all of them."""

    def __init__(
        self, templates: Sequence[SyncTemplate], context: NodeContext, sink: Out, tap: Tap | None = None
    ) -> None:
        self._nodes: list[SyncNode] = []
        entry = sink
        for template in reversed(templates):
            node = template.new_instance(context)
            self._nodes.insert(0, node)
            entry = _joined(node, entry) if tap is None else _tapped(node, entry, tap)
        self._entry = entry
        self._closed = False

    def push(self, event: Event) -> None:
        if not self._closed:
            self._entry(event)

    def close(self) -> None:
        if not self._closed:
            self._closed = True
            for node in self._nodes:
                node.close()


def _joined(node: SyncNode, out: Out) -> Out:
    push = node.push

    def entry(event: Event) -> None:
        push(event, out)

    return entry


def _tapped(node: SyncNode, out: Out, tap: Tap) -> Out:
    name = type(node).__name__

    def after(event: Event) -> None:
        tap("after", name, event)
        out(event)

    def entry(event: Event) -> None:
        tap("before", name, event)
        node.push(event, after)

    return entry


async def run_reply(
    templates: Sequence[AsyncTemplate], context: NodeContext, head: Event, tap: Tap | None = None
) -> AsyncGenerator[Event, None]:
    """Run one reply: feed ``head`` into fresh instances and yield what leaves the last one.

    Every node works in a task of its own, a small queue ahead of its successor. Closing the generator cancels all of
    them and waits until they are gone; an exception in a node surfaces here once what it made before has been taken.
    """
    stream = _once(head)
    tasks: list[asyncio.Task[None]] = []
    try:
        for template in templates:
            node = template.new_instance(context)
            queue: asyncio.Queue[_Item] = asyncio.Queue(QUEUE_EVENTS)
            tasks.append(asyncio.create_task(_pump(node, stream, queue, tap)))
            stream = _drain(queue)
        async with aclosing(stream):
            async for event in stream:
                yield event
    finally:
        for task in tasks:
            task.cancel()
        await asyncio.gather(*tasks, return_exceptions=True)


class _End:
    """Closes a queue; carries the exception that ended its producer."""

    __slots__ = ("error",)

    def __init__(self, error: BaseException | None) -> None:
        self.error = error


_Item = Event | _End


async def _once(head: Event) -> AsyncGenerator[Event, None]:
    yield head


async def _pump(
    node: AsyncNode, upstream: AsyncGenerator[Event, None], queue: asyncio.Queue[_Item], tap: Tap | None
) -> None:
    name = type(node).__name__
    try:
        source = upstream if tap is None else _watched(upstream, name, tap)
        # Closed by hand, from the last to the first: what is left to the collector dies in a task of its own, later.
        async with aclosing(upstream), aclosing(source), aclosing(node.stream(source)) as stream:  # type: ignore[type-var]
            async for event in stream:
                if tap is not None:
                    tap("after", name, event)
                await queue.put(event)
    except Exception as error:
        await queue.put(_End(error))
    else:
        await queue.put(_End(None))


async def _watched(upstream: AsyncIterator[Event], name: str, tap: Tap) -> AsyncGenerator[Event, None]:
    async for event in upstream:
        tap("before", name, event)
        yield event


async def _drain(queue: asyncio.Queue[_Item]) -> AsyncGenerator[Event, None]:
    while True:
        item = await queue.get()
        if isinstance(item, _End):
            if item.error is not None:
                raise item.error
            return
        yield item
