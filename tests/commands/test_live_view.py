"""The live view of `pointstamp run --ui`: what it says of a run, to whom, how it ends, and its picture."""

from __future__ import annotations

import json
import re
import socket
import subprocess
import sys
import threading
from collections.abc import Callable
from contextlib import ExitStack, suppress
from html.parser import HTMLParser
from http.client import HTTPConnection, HTTPResponse
from itertools import pairwise
from pathlib import Path
from time import monotonic
from typing import Any
from urllib.parse import quote

import pytest

from graphs import load
from graphs.live import LiveView, Watch, series, site, told
from graphs.live.parts import text_of
from graphs.live.server import MODULES
from graphs.live.told import Told
from progress.runtime import Complete, Dataflow, DeadLetter, Node
from tests.commands.paused_runs import paused, totals
from tests.commands.pipelines import COLLATZ_YAML, COMMAND, PATIENCE, TOTALS, TOTALS_YAML, run, started, stop, write
from tests.runtime.tools import Total

HERE = Path(__file__).resolve().parents[2]


def asked(view: LiveView, path: str, host: str | None = None, method: str = "GET") -> HTTPResponse:
    """The answer to one request; its connection stays until it is read."""
    connection = HTTPConnection("127.0.0.1", int(view.url.rsplit(":", 1)[1].rstrip("/")), timeout=PATIENCE)
    connection.request(method, path, headers={} if host is None else {"Host": host})
    return connection.getresponse()


def read(response: HTTPResponse) -> str:
    with response:
        return response.read().decode()


def data(view: LiveView, path: str) -> Any:
    response = asked(view, path)
    assert (response.status, response.getheader("Content-Type")) == (200, "application/json; charset=utf-8")
    return json.loads(read(response))


def until(view: LiveView, holds: Callable[[dict[str, Any]], bool]) -> dict[str, Any]:
    """The first state told by /events of which something holds."""
    response = asked(view, "/events")
    with response:
        while line := response.readline():
            if line.startswith(b"data: {"):
                state: dict[str, Any] = json.loads(line[6:])
                if state and holds(state):
                    return state
    raise AssertionError("the events are over")


# --- what it says ----------------------------------------------------------------------------------------------------


def test_it_shows_where_a_run_stands_and_why() -> None:
    with paused("threads") as (view, end):
        state = until(view, lambda state: state["messages"] == 3)
        assert state["phase"] == "runs"
        assert state["frontiers"] == {"numbers": [0], "total": [0], "totals": [0]}
        assert state["requests"] == [
            {"node": "total", "time": 0, "ready": False},
            {"node": "total", "time": 1, "ready": False},
        ]
        assert (state["all_requests"], state["blocked"], state["notifications"], state["late"]) == (2, 2, 0, 0)
        why = data(view, "/why?node=total&time=1")
        blocker = {"pointstamp": ["numbers", 0], "kind": "input", "proof": [["numbers", 0], ["numbers", 1]]}
        why.pop("wait", None)
        assert why == {"request": ["total", 1], "blocked": True, "all": 1, "by": [blocker]}
        waits = data(view, "/waits")
        assert [each["request"] for each in waits["waits"]] == [["total", 0], ["total", 1]]  # the longest first
        assert (waits["waiting"], waits["ready"], waits["waits"][1]["by"]["holds"]) == (2, 0, 2)
        end()
        state = until(view, lambda state: state["phase"] == "is over")
        assert [(told["node"], told["time"]) for told in state["told"]] == [("total", 0), ("total", 1)]
        assert (state["late"], state["requests"], state["waiting"]) == (1, [], [])
        assert state["frontiers"] == {"numbers": [], "total": [], "totals": []}


def test_what_waits_is_counted_by_edge_and_time() -> None:
    graph = totals()
    watch = Watch("totals", graph.network(), "sim")
    seen: list[dict[str, Any]] = []

    class Looks(Total):
        def on_message(self, edge: str, time: Any, value: Any, out: Any) -> None:
            seen.append(watch.state())
            super().on_message(edge, time, value, out)

    source = [(0, 1), (1, 2), (1, 3)]
    Dataflow(graph, {"total": Looks()}).run(sources={"numbers": source}, observer=watch)
    assert seen[0]["queued"] == {"numbers": 3}  # what a node is consuming is still outstanding
    assert seen[0]["waiting"] == [
        {"edge": "numbers", "time": 0, "count": 1},
        {"edge": "numbers", "time": 1, "count": 2},
    ]
    assert seen[0]["all_waiting"] == 3
    assert seen[0]["nodes"]["total"][2] == 1  # a call is being made
    assert (watch.state()["queued"], watch.state()["waiting"]) == ({}, [])


def test_a_failure_and_the_end_it_made_are_shown() -> None:
    graph = totals()
    watch = Watch("totals", graph.network(), "sim")
    with pytest.raises(Exception, match="ZeroDivisionError"):
        Dataflow(graph, {"total": lambda value: 1 // value}).run(sources={"numbers": [(0, 0)]}, observer=watch)
    state = watch.state()
    assert state["phase"] == "was stopped"
    assert "ZeroDivisionError" in state["reason"]
    assert (state["failures"], [letter["kind"] for letter in state["letters"]]) == (1, ["dead"])


def test_the_graph_has_names_ends_and_a_picture() -> None:
    view = LiveView(Watch("totals", totals().network(), "sim"), 0)
    try:
        graph = data(view, "/graph")
    finally:
        view.close()
    assert graph["nodes"] == ["total"]
    assert graph["edges"] == [
        {"name": "numbers", "from": None, "to": "total"},
        {"name": "totals", "from": "total", "to": None},
    ]
    assert len(graph["picture"]["edges"]) == 2


def test_stacks_are_shown_as_files_write_them_and_no_earliest_time_as_null() -> None:
    graph = load(HERE / "examples/recursion/two_calls.yaml")
    watch = Watch("calls", graph.network(), "sim")
    states: list[dict[str, Any]] = []

    class Once(Node):
        def on_start(self, out: Any) -> None:
            out.request(())

        def on_notify(self, time: Any, out: Any) -> None:
            out.send("entry->split", time, 1)

    class Looks(Node):
        def on_message(self, edge: str, time: Any, value: Any, out: Any) -> None:
            states.append(watch.state())

    Dataflow(graph, {"entry": Once(), "split": Looks()}).run(observer=watch)
    assert states[0]["frontiers"]["split"] == [[]]
    assert states[0]["frontiers"]["merge"] is None
    json.dumps(states[0], allow_nan=False)


@pytest.mark.parametrize("question", ["", "node=total", "node=total&time=", "node=total&time={", "x=" + "a" * 900])
def test_a_question_that_is_none_is_answered_in_words(question: str) -> None:
    view = LiveView(Watch("totals", totals().network(), "sim"), 0)
    try:
        response = asked(view, f"/why?{question}")
        assert response.status == 400
        assert "is asked for" in json.loads(read(response))["error"]
    finally:
        view.close()


@pytest.mark.parametrize(("node", "time"), [("nobody", "0"), ("total", '"monday"'), ("total", "-1"), ("numbers", "0")])
def test_a_request_that_cannot_be_has_no_reason(node: str, time: str) -> None:
    with paused("threads") as (view, _):
        assert "error" in data(view, f"/why?node={node}&time={quote(time)}")


# --- to whom ---------------------------------------------------------------------------------------------------------


def test_pages_load_nothing_from_elsewhere_and_every_file_is_there() -> None:
    view = LiveView(Watch("totals", totals().network(), "sim"), 0)
    try:
        response = asked(view, "/")
        assert "default-src 'none'; script-src 'self'; style-src 'self'" in str(
            response.getheader("Content-Security-Policy")
        )
        page = read(response)
        wanted = re.findall(r'(?:src|href)="([^"#]+)"', page)
        assert sorted(wanted) == ["data:,", "page.css", "page.js"]
        assert "<!--" not in page  # all parts are in their places
        scripts = {name: read(asked(view, f"/{name}")) for name in ("page.js", *MODULES)}
        for name, script in scripts.items():
            assert {one[2:] for one in re.findall(r' from "([^"]+)"', script)} <= scripts.keys(), name
            # names of strangers never become markup
            assert not re.search(r"innerHTML|outerHTML|insertAdjacentHTML|document\.write|\beval\b", script), name
        elsewhere = r"https?://(?!www\.w3\.org/2000/svg)|@import|url\("
        assert not re.search(elsewhere, "".join(scripts.values()) + read(asked(view, "/page.css")))
        assert not re.search(r"\son\w+=|\sstyle=", page)
        ids = set(re.findall(r'byId\("([^"]+)"\)', scripts["page.js"]))
        assert ids <= set(re.findall(r'id="([^"]+)"', page))
        assert asked(view, "/../server.py").status == 404
        head = asked(view, "/", method="HEAD")
        assert (head.status, read(head)) == (200, "")
        assert asked(view, "/state", method="PUT").status == 501
    finally:
        view.close()


@pytest.mark.parametrize("name", ["page.html", "film.html"])
def test_what_has_a_name_for_screen_readers_has_a_role(name: str) -> None:
    """As HTML asks of `aria-label` and `aria-labelledby`, and that each id is there once and is there at all."""
    found: list[tuple[str, dict[str, str | None]]] = []

    class Tags(HTMLParser):
        def handle_starttag(self, tag: str, attributes: list[tuple[str, str | None]]) -> None:
            found.append((tag, dict(attributes)))

    Tags().feed(text_of(name))
    ids = [attributes["id"] for _, attributes in found if "id" in attributes]
    assert len(ids) == len(set(ids)) > 20
    named = [(tag, each) for tag, each in found if {"aria-label", "aria-labelledby"} & each.keys()]
    assert named
    for tag, attributes in named:
        assert "role" in attributes or tag == "section", attributes
        assert attributes.get("aria-labelledby", ids[0]) in ids, attributes
    assert {attributes["for"] for tag, attributes in found if tag == "label" and "for" in attributes} <= {*ids}


@pytest.mark.parametrize("host", ["example.org", "example.org:{port}", "127.0.0.1", "", "127.0.0.1:{port}.example.org"])
def test_a_page_of_another_site_learns_nothing(host: str) -> None:
    view = LiveView(Watch("secret", totals().network(), "sim"), 0)
    try:
        port = view.url.rsplit(":", 1)[1].rstrip("/")
        for path in ("/", "/state", "/graph", "/events", "/why"):
            response = asked(view, path, host=host.format(port=port))
            assert response.status == 403
            assert "secret" not in read(response)
        assert asked(view, "/state", host=f"localhost:{port}").status == 200
    finally:
        view.close()


def test_it_listens_on_this_machine_alone() -> None:
    view = LiveView(Watch("totals", totals().network(), "sim"), 0)
    try:
        assert view._site.server.server_address[0] == "127.0.0.1"
    finally:
        view.close()


def test_many_pages_are_refused_and_all_of_them_let_go_at_the_end() -> None:
    view = LiveView(Watch("totals", totals().network(), "sim"), 0)
    readers = [asked(view, "/events") for _ in range(told.MOST_READERS)]
    assert {reader.status for reader in readers} == {200}
    assert asked(view, "/events").status == 503
    view.close()
    assert all(read(reader).endswith("event: over\ndata: {}\n\n") for reader in readers)
    assert not [thread.name for thread in threading.enumerate() if thread.name == "live view"]


# --- on the command line ---------------------------------------------------------------------------------------------


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    write(tmp_path, totals__yaml=TOTALS_YAML, totals__py=TOTALS, collatz__yaml=COLLATZ_YAML)
    return tmp_path


@pytest.mark.parametrize("engine", ["sim", "threads", "asyncio"])
def test_the_command_serves_it_while_it_runs(folder: Path, engine: str) -> None:
    process = started(folder, "totals.py", "--input", "numbers=-", "--engine", engine, "--ui", "0")
    try:
        assert process.stdin is not None
        assert process.stderr is not None
        process.stdin.write(b'{"time": 0, "value": 3}\n')
        process.stdin.flush()
        line = process.stderr.readline().decode()
        found = re.fullmatch(r"pointstamp: live view at http://127\.0\.0\.1:(\d+)/\n", line)
        assert found is not None, line
        connection = HTTPConnection("127.0.0.1", int(found[1]), timeout=PATIENCE)
        connection.request("GET", "/events")
        response = connection.getresponse()
        assert response.status == 200
        while state := response.readline():
            if b'"messages":1' in state:
                break
        assert b'"node":"total","time":0,"ready":false' in state
        process.stdin.close()  # the reader stays: it does not keep the process
        rest = response.read()
        assert b'"phase":"is over"' in rest
        assert process.wait(PATIENCE) == 0
    finally:
        stop(process)


def test_a_port_that_is_taken_is_one_line_and_nothing_has_happened(folder: Path) -> None:
    with socket.create_server(("127.0.0.1", 0)) as taken:
        port = str(taken.getsockname()[1])
        (folder / "out.jsonl").write_text("before\n", "utf-8")
        result = run(
            folder,
            "totals.py",
            "--input",
            "numbers=-",
            "--output",
            "totals=out.jsonl",
            "--ui",
            port,
            stdin='{"time": 0',
        )
    assert result.exit_code == 2
    assert result.err == f"pointstamp: --ui {port}: address already in use (another port; 0 takes any that is free)\n"
    assert (folder / "out.jsonl").read_text("utf-8") == "before\n"


@pytest.mark.parametrize("port", ["-1", "65536", "http", "", "8O", "１"])
def test_a_port_that_is_none_is_bad_usage(folder: Path, port: str) -> None:
    result = run(folder, "totals.py", f"--ui={port}")
    assert (result.exit_code, result.out) == (2, "")
    assert "is not a port: they go from 0 to 65535" in result.err
    assert result.err.count("\n") == 1


def test_a_run_without_it_loads_no_server(folder: Path) -> None:
    code = "import sys, graphs.command; graphs.command.main(['run', 'totals.py']); print('http.server' in sys.modules)"
    done = subprocess.run([sys.executable, "-c", code], cwd=folder, capture_output=True, text=True, check=True)
    assert done.stdout.splitlines()[-1] == "False"


def test_rates_and_queues_of_the_last_minutes_are_noted_also_while_nobody_reads() -> None:
    now = 0.0
    graph = totals()
    watch = Watch("totals", graph.network(), "sim", clock=lambda: now)
    noted = 0

    class Looks(Total):
        def on_message(self, edge: str, time: Any, value: Any, out: Any) -> None:
            nonlocal now, noted
            for _ in range(10):  # ticks, of which one is after two seconds
                now += 0.2
                watch.sample()
            noted += 1
            super().on_message(edge, time, value, out)

    Dataflow(graph, {"total": Looks()}).run(sources={"numbers": [(0, 1)] * 200}, observer=watch)
    told_series = watch.series.told()
    assert len(told_series["seconds"]) == series.SAMPLES  # the last ones
    assert told_series["seconds"][-1] == pytest.approx(now, abs=series.EVERY)
    gaps = [after - before for before, after in pairwise(told_series["seconds"])]
    assert min(gaps) >= series.EVERY - 0.01
    assert told_series["edges"].keys() == {"numbers"}  # nothing has left before the end
    assert len(told_series["edges"]["numbers"]["queued"]) == series.SAMPLES
    state = watch.state()
    assert state["passed"] == {"numbers": 200, "totals": 1}
    watch.sample()  # the run is over
    assert watch.series.told() == told_series


def test_a_sample_that_takes_long_is_followed_by_none_for_long_and_the_busiest_edges_are_told() -> None:
    names = [f"edge {number}" for number in range(500)]
    samples = series.Series(names)
    assert samples.is_due(0.0)
    samples.add(0.0, dict(zip(names, range(500), strict=True)), {"edge 0": 7}, now=0.0, cost=0.5)
    assert not samples.is_due(0.5 * series.SHARE - 0.1)
    assert samples.is_due(0.5 * series.SHARE)
    edges = samples.told()["edges"]
    assert [*edges] == [f"edge {number}" for number in range(499, 499 - series.MOST_EDGES, -1)]


def test_what_was_delivered_is_remembered_and_numbered() -> None:
    graph = totals()
    watch = Watch("totals", graph.network(), "sim")
    source = [item for time in range(1_500) for item in ((time, 1), Complete([time + 1]))]
    Dataflow(graph, {"total": Total()}).run(sources={"numbers": source}, observer=watch)
    delivered = watch.delivered()
    assert [(each["number"], each["time"]) for each in delivered] == [(time + 1, time) for time in range(500, 1_500)]
    assert watch.state()["told"] == delivered[-30:]


def test_late_and_dead_letters_are_told_without_their_values() -> None:
    graph = totals()
    watch = Watch("totals", graph.network(), "sim")
    source = [(1, 5), Complete([1]), (0, 77_777), (1, "88888"), (1, 5)]
    results = Dataflow(graph, {"total": Total()}, on_error={"*": DeadLetter("dead")}).run(
        sources={"numbers": source}, observer=watch
    )
    assert results["totals"] == [(1, 10)]
    state = watch.state()
    assert [(letter["kind"], letter["count"]) for letter in state["letters"]] == [("late", 1), ("dead", 1)]
    assert "TypeError" in state["letters"][1]["says"]
    assert "77777" not in json.dumps(state)
    assert "88888" not in json.dumps(state)


# --- what it costs the run -------------------------------------------------------------------------------------------


def test_the_run_is_looked_at_once_an_interval_for_all_readers_and_for_a_share_of_the_time() -> None:
    now = 0.0
    looks: list[float] = []

    def look() -> str:
        nonlocal now
        looks.append(now)
        now += 0.02  # what it takes
        return str(len(looks))

    shared = Told(look, clock=lambda: now, work=lambda: now)
    while now < 100.0:
        for _ in range(20):  # readers
            shared.text()
        now += 0.01
    assert 0.02 * len(looks) <= 100.0 / told.SHARE * 1.1
    assert len(looks) >= 100


def test_telling_many_readers_is_paid_for_as_looking_is() -> None:
    """Counted: each look takes 20 ms, telling it 100 ms, as to twenty readers; the sum stays within the share."""
    now = spent = 0.0
    looks = 0

    def look() -> str:
        nonlocal looks, spent, now
        looks += 1
        spent += 0.02
        now += 0.02
        return str(looks)

    shared = Told(look, clock=lambda: now, work=lambda: spent)

    def send(text: bytes) -> None:
        nonlocal spent
        spent += 0.1

    class Ends(threading.Event):
        def wait(self, timeout: float | None = None) -> bool:
            nonlocal now
            now += 0.05
            return now > 200.0

        def is_set(self) -> bool:
            return now > 200.0

    shared._ended = Ends()
    assert shared.events(send)
    assert looks > 30
    assert spent <= 200.0 / told.SHARE * 1.1


def test_twenty_readers_are_told_of_each_look_and_none_makes_another() -> None:
    """Counted: what the run is asked for does not grow with readers, and its own thread only counts and appends."""

    class Counted(Watch):
        looks = 0

        def state(self) -> dict[str, Any]:
            self.looks += 1
            return super().state()

    watch = Counted("totals", totals().network(), "sim")
    view = LiveView(watch, 0)
    view.told.text()
    view.told._clock = lambda: view.told._at  # no time passes
    readers = [asked(view, "/events") for _ in range(20)]
    try:
        for reader in readers:
            assert json.loads(reader.readline().removeprefix(b"data: "))["messages"] == 0
            reader.readline()
        Dataflow(totals(), {"total": Total()}).run(sources={"numbers": [(0, 1)] * 1_000}, observer=watch)
        assert data(view, "/state")["messages"] == 0
        assert watch.looks == 1
    finally:
        view.close()
    for reader in readers:
        last, _ = read(reader).split("\n\n", 1)
        assert json.loads(last.removeprefix("data: "))["messages"] == 1_000
    assert watch.looks == 2  # the last one is of how it ended


# --- who takes connections ------------------------------------------------------------------------------------------


def connected(view: LiveView, count: int, sends: bytes = b"") -> list[socket.socket]:
    """Connections that ask for nothing, or for a part of something."""
    found = []
    for _ in range(count):
        connection = socket.create_connection(("127.0.0.1", int(view.url.rsplit(":", 1)[1].rstrip("/"))), PATIENCE)
        if sends:
            with suppress(OSError):  # it may be ended already
                connection.sendall(sends)
        found.append(connection)
    return found


def ended(connection: socket.socket, seconds: float) -> bool:
    """Whether the other side ends a connection within some seconds."""
    connection.settimeout(seconds)
    try:
        while connection.recv(4_096):
            pass
    except TimeoutError:
        return False
    except OSError:
        pass
    return True


def test_no_more_connections_than_so_many_are_kept(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(site, "DEADLINE", PATIENCE * 10)
    monkeypatch.setattr(site._Handler, "timeout", PATIENCE * 10)
    with paused("threads") as (view, _):
        connections = connected(view, 150)
        assert all(ended(connection, PATIENCE) for connection in connections[site.MOST_CONNECTIONS :])
        assert not any(ended(connection, 0.01) for connection in connections[: site.MOST_CONNECTIONS : 8])
        threads = [thread for thread in threading.enumerate() if "process_request_thread" in thread.name]
        assert len(threads) <= site.MOST_CONNECTIONS
        for connection in connections:
            connection.close()
        until(view, lambda state: state["messages"] == 3)


def test_a_request_has_to_be_there_in_time_however_slowly_it_comes(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(site, "DEADLINE", 0.5)
    with paused("threads") as (view, _):
        (slow,) = connected(view, 1, b"GET / HTTP/1.1\r\nX-Slow: ")
        is_over = threading.Event()

        def trickle() -> None:
            while not is_over.wait(0.02):
                with suppress(OSError):
                    slow.sendall(b"x")

        thread = threading.Thread(target=trickle)
        thread.start()
        try:
            assert ended(slow, PATIENCE)
        finally:
            is_over.set()
            thread.join()
            slow.close()


def test_who_reads_events_stays_beyond_the_deadline(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(site, "DEADLINE", 0.2)
    monkeypatch.setattr(told, "SILENCE", 0.1)
    with paused("threads") as (view, _):
        response = asked(view, "/events")
        with response:
            begin = monotonic()
            while monotonic() < begin + 1.0:
                assert response.readline(), "it was ended"


def test_whoever_takes_all_connections_does_not_end_the_run(tmp_path: Path) -> None:
    """The process may open a hundred files; checkpoints go on to be taken."""
    write(tmp_path, totals__yaml=TOTALS_YAML, totals__py=TOTALS)
    options = "--input numbers=- --output totals=out --state state --every 0 --ui 0"
    script = f"ulimit -n 100; exec {COMMAND} run totals.py {options}"
    process = subprocess.Popen(
        ["sh", "-c", script], cwd=tmp_path, stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.PIPE
    )
    assert process.stdin is not None
    assert process.stderr is not None
    taken = ExitStack()
    try:
        port = int(process.stderr.readline().rsplit(b":", 1)[1].rstrip(b"/\n"))
        connections = [taken.enter_context(socket.create_connection(("127.0.0.1", port), PATIENCE)) for _ in range(120)]
        assert len(connections) == 120
        for number in range(50):
            process.stdin.write(f'{{"time": {number}, "value": 1}}\n{{"complete": [{number + 1}]}}\n'.encode())
            process.stdin.flush()
        _, err = process.communicate(timeout=PATIENCE)
        assert (process.returncode, err) == (0, b"")
    finally:
        taken.close()
        process.kill()
        process.wait()
    assert (tmp_path / "out").read_text().count("value") == 50
