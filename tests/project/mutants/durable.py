"""What a run keeps, and what it does again."""

from __future__ import annotations

from tests.project.mutants.mutant import within

DURABLE = "progress/runtime/durable"
LAYERS = ("tests/runtime/test_layers.py",)
ROWS = ("tests/runtime/test_rows.py",)
STORE = ("tests/commands/test_store.py",)
REPEATED = ("tests/runtime/test_repeated.py",)
DELIVERY = ("tests/commands/test_delivery.py",)

MUTANTS = (
    *within(
        "progress/runtime",
        LAYERS,
        (
            "a value is handed out although its layer is being written",
            "state.py",
            "                if layer.copied is not None:\n                    value = layer.copied(value)\n",
            "",
        ),
        (
            "a key that was put back has its old place",
            "state.py",
            "                if any(each.values.get(key) is GONE or key in each.moved for each in above):\n",
            "                if any(each.values.get(key) is GONE for each in above):\n",
        ),
    ),
    *within(
        f"{DURABLE}/mappings",
        LAYERS,
        (
            "a key that was put back is written where it was",
            "layers.py",
            "if value is GONE or key in aside.moved:\n                change.gone.append(key)",
            "if value is GONE:\n                change.gone.append(key)",
        ),
        (
            "the base changes while it is written anew",
            "layers.py",
            "        self._base.copied = self._copied\n        self._anew",
            "        self._anew",
        ),
        (
            "a deleted key of the base comes back",
            "layers.py",
            "                if value is GONE:\n                    under.values[key] = GONE\n",
            "                if value is GONE:\n                    pass\n",
        ),
    ),
    *within(
        f"{DURABLE}/mappings",
        ROWS,
        ("rows that change lose their place", "rows.py", "            if not is_moved:\n", "            if False:\n"),
        (
            "what stands for rows goes by their order",
            "rows.py",
            'digest=self.digest ^ int.from_bytes(row, "little"))',
            'digest=3 * self.digest + int.from_bytes(row, "little"))',
        ),
        (
            "a strand without rows has the number of another one",
            "strands.py",
            "self._unused.union(used, (places,))",
            "self._unused.union((places,))",
        ),
        (
            "what goes into rows changes while it does",
            "layers.py",
            "            self._since.copied = self._copied if changed > self.rows.most // 2 else None\n",
            "            self._since.copied = (lambda value: value) if changed > self.rows.most // 2 else None\n",
        ),
    ),
    *within(
        DURABLE,
        STORE,
        (
            "a run that lost its store goes on writing",
            "store.py",
            'if self._rows.execute("SELECT claim FROM kept").fetchone() != (self._claim,):',
            "if False:",
        ),
        ("a store may be behind its head", "stored.py", "    if number < head.number:\n", "    if False:\n"),
        (
            "the digest of a piece is not compared",
            "stored.py",
            "        if hashlib.sha256(content).digest() != digest:\n",
            "        if False:\n",
        ),
    ),
    *within(
        DURABLE,
        REPEATED,
        (
            "what nodes were told of the world is not written down",
            "order.py",
            "        if told:\n            self._add((TOLD, node, told))\n",
            "",
        ),
    ),
    *within(
        DURABLE,
        ("tests/runtime/test_bundles.py",),
        (
            "what waited in a checkpoint is delivered twice",
            "bundles.py",
            "            if number > there[0] or (number == there[0] and type(each) is _Moved):\n",
            "            if True:\n",
        ),
        (
            "what waits for a checkpoint leaves before it",
            "bundles.py",
            "                self._free = self._covered\n",
            "                self._free = len(self._entries)\n",
        ),
    ),
    *within(
        "graphs/running",
        DELIVERY,
        (
            "what has left is not compared",
            "line_sink.py",
            "            if not lines.startswith(there):\n                raise self._differs(lines)\n",
            "",
        ),
    ),
    *within(
        "progress/runtime/actions",
        ("tests/runtime/test_ordered.py",),
        (
            "times in order as they are written",
            "ordered.py",
            "heappush(self._wanted, (self.key(time), repr(time), time))",
            "heappush(self._wanted, (repr(time), repr(time), time))",
        ),
        (
            "a time that frontiers have passed is not handed on",
            "core.py",
            "            if not ordered.is_total and not ordered.is_listed and ordered.has_work:",
            "            if False:",
        ),
    ),
)
