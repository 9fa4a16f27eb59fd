"""How web servers with threads for a Flask app, in one process, hold thousands of connections and bad clients.

    python benchmarks/bench_servers.py [CONNECTIONS] [--only NAME …] [--before SRC]

Every row is a process of its own that serves the same small page. ``ours`` is the assessment server; ``--before`` adds
a row for that of another version, whose `src` folder is given. The others are started as their documentation says, with
sixteen threads and as many connections as they allow; a package that is not installed is skipped. What is printed:

- kept: so many connections (4,000) from four addresses stay open; milliseconds of requests on them at random, twenty at
  a time, and of one new connection and its answer;
- half heads, slow bodies: as many connections from two addresses send half a head, or a body that does not end; how
  long a third address waits for its page then ("shut out" after ten seconds), and how many still have a place;
- flood: one address connects as fast as it can and says nothing; milliseconds of another's requests meanwhile.

The client needs about as many open files as connections, and addresses from 127.0.0.1 to 127.0.0.6, which Linux has.
"""

import asyncio
import importlib.util
import os
import random
import resource
import socket
import subprocess
import sys
import time
from contextlib import suppress
from pathlib import Path

import numpy as np

SERVERS = ("ours", "waitress", "cheroot", "granian", "uvicorn")
NEEDS = {"ours": "uvicorn", "before": "flask", "uvicorn": "a2wsgi"}
GET = b"GET / HTTP/1.1\r\nHost: localhost\r\n\r\n"
HALF = b"POST / HTTP/1.1\r\nHost: localhost\r\nContent-"
SLOW = b"POST / HTTP/1.1\r\nHost: localhost\r\nContent-Length: 60000\r\n\r\nx"
PATIENCE = 10


def make_app():
    """Return the page that all of them serve."""
    from flask import Flask, request  # noqa: PLC0415  one row's own

    app = Flask(__name__)
    app.route("/", methods=["GET", "POST"])(lambda: "x" * (500 + len(request.get_data())))
    return app


def serve(name, port):
    """Serve until the process is killed."""
    import logging  # noqa: PLC0415  one row's own

    logging.disable(logging.CRITICAL)
    files()
    if name in ("ours", "before"):
        from focuseval.assessment.web.serve import Server, bind  # noqa: PLC0415  one row's own

        server = Server(make_app(), bind(port=port))
        server.start()
        server.wait()
    elif name == "waitress":
        import waitress  # noqa: PLC0415  one row's own

        waitress.serve(
            make_app(), port=port, host="127.0.0.1", threads=16, connection_limit=10_000, asyncore_use_poll=True
        )
    elif name == "cheroot":
        from cheroot.wsgi import Server as Cheroot  # noqa: PLC0415  one row's own

        Cheroot(("127.0.0.1", port), make_app(), numthreads=16, request_queue_size=1024).safe_start()
    elif name == "granian":
        from granian import Granian  # noqa: PLC0415  one row's own

        target = f"{Path(__file__).stem}:make_app"
        many = {"backlog": 8_192, "backpressure": 8_192, "blocking_threads": 16}
        Granian(target, address="127.0.0.1", port=port, interface="wsgi", factory=True, **many).serve()
    else:
        import uvicorn  # noqa: PLC0415  one row's own
        from a2wsgi import WSGIMiddleware  # noqa: PLC0415  one row's own

        uvicorn.run(WSGIMiddleware(make_app(), workers=16), port=port, log_level="critical")


def files():
    """Allow this process as many open files as it may have."""
    hard = resource.getrlimit(resource.RLIMIT_NOFILE)[1]
    resource.setrlimit(resource.RLIMIT_NOFILE, (hard, hard))


async def connect(port, address, data=b""):
    """Open a connection from an address of this machine."""
    stream = await asyncio.open_connection("127.0.0.1", port, local_addr=(f"127.0.0.{address}", 0))
    stream[1].write(data)
    return stream


async def ask(stream, data=GET):
    """Return the milliseconds of one request, or of the answer to one that was sent before."""
    began = time.perf_counter()
    stream[1].write(data)
    head = (await stream[0].readuntil(b"\r\n\r\n")).lower()
    await stream[0].readexactly(int(head.partition(b"content-length: ")[2].split(b"\r\n")[0]))
    return 1000 * (time.perf_counter() - began)


async def newcomer(port, address):
    """Return the milliseconds of a new connection and its first answer."""
    began, stream = time.perf_counter(), None
    try:
        async with asyncio.timeout(PATIENCE):
            stream = await connect(port, address)
            await ask(stream)
    except (OSError, EOFError, TimeoutError):
        return None
    finally:
        if stream:
            stream[1].close()
    return 1000 * (time.perf_counter() - began)


def say(milliseconds):
    return "shut out" if milliseconds is None else f"{milliseconds:.0f} ms"


async def many(port, count, addresses, data=b""):
    """Open so many connections, a few hundred at a time; a server that takes no more ends it."""
    streams = []
    for start in range(0, count, 200):
        turn = (connect(port, addresses[k % len(addresses)], data) for k in range(start, min(start + 200, count)))
        with suppress(TimeoutError):
            async with asyncio.timeout(PATIENCE):
                streams += [
                    one for one in await asyncio.gather(*turn, return_exceptions=True) if isinstance(one, tuple)
                ]
    return streams


async def leave(streams):
    for _, writer in streams:
        writer.transport.abort()
    await asyncio.sleep(1)  # the server sees them go


async def kept(port, count):
    streams = await many(port, count, (1, 2, 3, 4), GET)  # servers close connections that say nothing
    working, gate, times, failed = [], asyncio.Semaphore(20), [], 0

    async def one(stream, keep, data=GET):
        nonlocal failed
        async with gate:
            try:
                async with asyncio.timeout(PATIENCE):
                    keep.append(await ask(stream, data))
                working.append(stream)
            except (OSError, EOFError, TimeoutError):
                failed += 1

    with suppress(TimeoutError):
        async with asyncio.timeout(60):
            await asyncio.gather(*(one(stream, [], b"") for stream in streams))
            chosen = random.Random(1).choices(working, k=2_000) if working else []
            await asyncio.gather(*(one(stream, times) for stream in dict.fromkeys(chosen)))
    last = await newcomer(port, 5)
    await leave(streams)
    p50, p95 = np.percentile(times, [50, 95]) if times else (float("nan"), float("nan"))
    return f"kept {len(streams)}: p50 {p50:.1f}, p95 {p95:.1f} ms, {failed} failed, the next {say(last)}"


async def bad(port, count, data):
    streams = await many(port, count, (2, 3), data)
    last = await newcomer(port, 1)
    open_ones = sum(not reader.at_eof() and reader.exception() is None for reader, _ in streams)
    await leave(streams)
    return f"the next {say(last)}, {open_ones} places"


async def flood(port, seconds=3.0):
    end, times, opened = time.perf_counter() + seconds, [], 0

    async def attack():
        nonlocal opened
        streams = []
        while time.perf_counter() < end:
            with suppress(OSError):
                streams.append(await connect(port, 6))
                opened += 1
        return streams

    async def work():
        while time.perf_counter() < end:
            times.append(await newcomer(port, 1))

    *streams, _ = await asyncio.gather(*(attack() for _ in range(8)), work())
    await leave([one for some in streams for one in some])
    right = [one for one in times if one is not None]
    p95 = np.percentile(right, 95) if right else float("nan")
    return f"{opened} connections, p95 {p95:.0f} ms of {len(right)}, {len(times) - len(right)} shut out"


def row(name, count, source):
    """Measure one server in a process of its own."""
    if importlib.util.find_spec(NEEDS.get(name, name)) is None:
        print(f"{name}: skipped, {NEEDS.get(name, name)} is not installed")
        return
    with socket.create_server(("127.0.0.1", 0)) as free:
        port = free.getsockname()[1]
    paths = [*([source] if source else []), str(Path(__file__).parent), os.environ.get("PYTHONPATH", "")]
    command = [sys.executable, __file__, "--serve", name, str(port)]
    with subprocess.Popen(command, env=os.environ | {"PYTHONPATH": os.pathsep.join(paths)}) as server:
        try:
            end = time.monotonic() + 20
            while asyncio.run(newcomer(port, 1)) is None and time.monotonic() < end:
                time.sleep(0.2)
            print(f"{name}: {asyncio.run(kept(port, count))}", flush=True)
            print(f"  half heads: {asyncio.run(bad(port, count, HALF))}", flush=True)
            print(f"  slow bodies: {asyncio.run(bad(port, count, SLOW))}", flush=True)
            print(f"  flood: {asyncio.run(flood(port))}; load of the machine {os.getloadavg()[0]:.1f}", flush=True)
        finally:
            server.terminate()
            with suppress(subprocess.TimeoutExpired):
                server.wait(5)
            server.kill()


def main():
    words = sys.argv[1:]
    if words[:1] == ["--serve"]:
        serve(words[1], int(words[2]))
        return
    files()
    before = words[words.index("--before") + 1] if "--before" in words else ""
    only = words[words.index("--only") + 1 :] if "--only" in words else [*(["before"] if before else []), *SERVERS]
    count = int(words[0]) if words and words[0].isdigit() else 4_000
    for name in only:
        row(name, count, before if name == "before" else "")


if __name__ == "__main__":
    main()
