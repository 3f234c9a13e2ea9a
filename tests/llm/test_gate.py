import asyncio

from marginalia_tui.llm.gate import Gate


async def enter(gate: Gate, name: str, order: list[str], leave: asyncio.Event, limit: int = 1) -> None:
    async with gate.turn("model", limit):
        order.append(name)
        await leave.wait()


async def settle() -> None:
    for _ in range(10):
        await asyncio.sleep(0)


def test_first_come_first_served() -> None:
    async def scene() -> None:
        gate, order = Gate(), list[str]()
        leaves = [asyncio.Event() for _ in range(4)]
        tasks = [asyncio.create_task(enter(gate, str(at), order, leave)) for at, leave in enumerate(leaves)]
        for at, leave in enumerate(leaves):
            await settle()
            assert order == [str(one) for one in range(at + 1)]
            leave.set()
        await asyncio.gather(*tasks)

    asyncio.run(scene())


def test_as_many_at_once_as_the_limit_says() -> None:
    async def scene() -> None:
        gate, order, leave = Gate(), list[str](), asyncio.Event()
        tasks = [asyncio.create_task(enter(gate, str(at), order, leave, limit=2)) for at in range(5)]
        await settle()
        assert order == ["0", "1"]
        wider = asyncio.create_task(enter(gate, "5", order, leave, limit=4))
        await settle()
        assert order == ["0", "1", "2", "3"]
        leave.set()
        await asyncio.gather(*tasks, wider)
        assert order == ["0", "1", "2", "3", "4", "5"]

    asyncio.run(scene())


def test_who_gives_up_waiting_holds_up_nobody() -> None:
    async def scene() -> None:
        gate, order = Gate(), list[str]()
        first, rest = asyncio.Event(), asyncio.Event()
        holder = asyncio.create_task(enter(gate, "holder", order, first))
        await settle()
        waiting = [asyncio.create_task(enter(gate, str(at), order, rest)) for at in range(3)]
        await settle()
        waiting[0].cancel()
        await settle()
        first.set()
        # The turn goes to the second in the same moment in which he gives up, too.
        await asyncio.sleep(0)
        waiting[1].cancel()
        await settle()
        assert order[-1] == "2"
        rest.set()
        await asyncio.gather(holder, *waiting, return_exceptions=True)
        async with gate.turn("model", 1):
            order.append("free")
        assert order[-1] == "free"

    asyncio.run(scene())


def test_models_do_not_wait_for_each_other() -> None:
    async def scene() -> None:
        gate = Gate()
        async with gate.turn("a", 1), asyncio.timeout(1), gate.turn("b", 1):
            pass

    asyncio.run(scene())
