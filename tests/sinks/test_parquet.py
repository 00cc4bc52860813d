"""Files of Parquet: killed whenever, each value is there once; what cannot be stored is said in one line."""

from __future__ import annotations

import os
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pyarrow  # type: ignore[import-untyped]
import pytest
from pyarrow import dataset, parquet

from graphs import from_edges
from progress.errors import PointstampError
from progress.runtime import Bundle, Dataflow, ParquetFiles
from tests.sinks.lives import (
    DELIVERIES,
    GRAPH,
    ITEMS,
    OUT,
    Values,
    check_once,
    half,
    killed_at_deliveries,
    killed_at_random,
    refused,
    run,
)


def halfway(made: Any, stop: Callable[[], None]) -> None:
    """A file is written, and has not its name."""
    link = os.link

    def linking(source: Any, target: Any) -> None:
        stop()
        link(source, target)

    os.link = linking  # type: ignore[assignment]  # in a process that ends


def table_in(folder: Path) -> Any:
    return dataset.dataset(folder).to_table()


def rows(folder: Path) -> Values:
    found = table_in(folder).to_pylist()
    return [(row["time"], {"kind": row["kind"], "number": row["number"]}) for row in found]


@pytest.mark.parametrize("delivery", DELIVERIES)
def test_killed_at_deliveries(tmp_path: Path, delivery: str) -> None:
    killed_at_deliveries(tmp_path, ParquetFiles(tmp_path / "files"), halfway, delivery)
    check_once(rows(tmp_path / "files"))
    assert all(file.name.startswith("bundle-") for file in (tmp_path / "files").iterdir())


@pytest.mark.parametrize("delivery", DELIVERIES)
def test_killed_at_random(tmp_path: Path, delivery: str) -> None:
    killed_at_random(tmp_path, ParquetFiles(tmp_path / "files"), delivery, seed=2)
    check_once(rows(tmp_path / "files"))


def written(folder: Path, *values: Any, schema: Any = None) -> Any:
    """The table of what a run stores: a value each bundle, since the source waits for the one before."""
    made = ParquetFiles(folder, schema=schema).sink_for(OUT)
    made.last()
    for number, value in enumerate(values):
        made.deliver(Bundle(OUT, [((number, 0), value)], None, f"{number + 1}:"))
    made.close()
    return table_in(folder)


def test_what_there_is_has_its_types(tmp_path: Path) -> None:
    found = written(tmp_path / "a", {"n": 1, "many": [1, 2]}, {"n": None, "many": []}, {"n": 1 << 40, "many": None})
    assert found.to_pylist() == [
        {"time": "[0, 0]", "n": 1, "many": [1, 2]},
        {"time": "[1, 0]", "n": None, "many": []},
        {"time": "[2, 0]", "n": 1 << 40, "many": None},
    ]
    assert str(found.schema.field("many").type) == "list<element: int64>"
    assert written(tmp_path / "b", 1.5, 2, float("inf")).column("value").to_pylist() == [1.5, 2, float("inf")]
    schema = pyarrow.schema({"time": pyarrow.string(), "value": pyarrow.int16()})
    assert written(tmp_path / "c", None, 7, schema=schema).column("value").to_pylist() == [None, 7]


@pytest.mark.parametrize(
    ("first", "then", "says"),
    [
        (1, 2.5, "{'time': '[1, 0]', 'value': 2.5} would be {'time': '[1, 0]', 'value': 2} there"),
        (1, "text", "Could not convert 'text' with type str: tried to convert to int64"),
        ("text", 1, "Expected bytes, got a 'int' object"),
        ({"a": 1}, {"b": 1}, "{'time': '[1, 0]', 'b': 1} would be {'time': '[1, 0]', 'a': None} there"),
        ({"a": [1]}, {"a": [2.5]}, "would be {'time': '[1, 0]', 'a': [2]} there"),
        ({"a": {"b": 1}}, {"a": 3}, "null value for conversion to struct type"),
        (1, 1 << 70, "too large"),
    ],
)
def test_what_does_not_fit_is_one_line(tmp_path: Path, first: Any, then: Any, says: str) -> None:
    with pytest.raises(PointstampError) as caught:
        written(tmp_path, first, then)
    said = str(caught.value)
    assert said.startswith(f"PS745: the sink of 'chain->out', the folder {tmp_path}")
    assert says in said
    assert "\n" not in said
    assert len(table_in(tmp_path)) == 1


def test_a_place_that_is_no_folder_or_holds_something_else(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("")
    assert "File exists" in refused(tmp_path, ParquetFiles(tmp_path / "file"))
    (tmp_path / "files").mkdir()
    (tmp_path / "files" / "bundle-000000000007.parquet").write_text("torn")
    assert "PS725: the sink of 'chain->out', the folder" in refused(tmp_path, ParquetFiles(tmp_path / "files"))
    pyarrow.parquet.write_table(pyarrow.table({"a": [1]}), tmp_path / "files" / "bundle-000000000008.parquet")
    assert "bundle-000000000008.parquet has no stamp" in refused(tmp_path, ParquetFiles(tmp_path / "files"))


@pytest.mark.parametrize("delivery", DELIVERIES)
def test_what_was_emptied_or_is_another_runs_is_refused(tmp_path: Path, delivery: str) -> None:
    files = ParquetFiles(tmp_path / "files")
    half(tmp_path, files, delivery)
    assert rows(tmp_path / "files")
    (tmp_path / "files").rename(tmp_path / "aside")
    assert refused(tmp_path, files, delivery=delivery).startswith(
        "PS736: the sink of 'chain->out' has stored 0 deliver"
    )
    (tmp_path / "files").rmdir()
    (tmp_path / "aside").rename(tmp_path / "files")
    run(tmp_path, files, delivery=delivery)
    check_once(rows(tmp_path / "files"))
    others = Dataflow(GRAPH, {"chain": lambda value: {"kind": "other", "number": value}})
    with pytest.raises(PointstampError) as caught:
        others.run(sources={"in->chain": ITEMS}, sinks={OUT: files}, state=tmp_path / "new", delivery=delivery)
    assert caught.value.code == {"deterministic": "PS748", "barrier": "PS736"}[delivery]
    check_once(rows(tmp_path / "files"))


def test_one_of_two_that_deliver_at_once_is_refused(tmp_path: Path) -> None:
    one, other = (ParquetFiles(tmp_path).sink_for(OUT) for _ in range(2))
    for each in (one, other):
        assert each.last() is None
    one.deliver(Bundle(OUT, [(0, 1)], None, "1:a"))
    with pytest.raises(PointstampError, match="somebody else delivers there"):
        other.deliver(Bundle(OUT, [(0, 2)], None, "1:b"))
    other.close()
    assert table_in(tmp_path).to_pylist() == [{"time": 0, "value": 1}]
    assert one.last() == "1:a"


def test_two_edges_have_two_folders(tmp_path: Path) -> None:
    flow = Dataflow(from_edges([(None, "a"), (None, "b"), ("a", None), ("b", None)]))
    with pytest.raises(PointstampError, match="PS779: 'a->out' and 'b->out' both write to"):
        flow.run(sinks={"a->out": ParquetFiles(tmp_path), "b->out": ParquetFiles(tmp_path / ".")})


def test_nobody_links_what_another_one_has_begun(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Of two runs whose processes have one number, as each in a container of its own may."""
    first, second = ParquetFiles(tmp_path).sink_for(OUT), ParquetFiles(tmp_path).sink_for(OUT)
    bundle = Bundle(OUT, [(0, 7)], None, "1:")
    link = os.link

    def full(*given: Any) -> None:
        raise OSError("there is no room")

    def meanwhile(*names: Any) -> None:
        assert second.last() is None
        monkeypatch.setattr(parquet, "write_table", full)
        with pytest.raises(PointstampError, match="there is no room"):
            second.deliver(bundle)
        link(*names)

    monkeypatch.setattr(os, "link", meanwhile)
    assert first.last() is None
    with pytest.raises(PointstampError, match="somebody else delivers there"):
        first.deliver(bundle)
    assert not list(tmp_path.glob("bundle-*"))
