"""Plain data: its form, and the kernel that writes and reads it as its twin in Python does."""

from __future__ import annotations

from tests.project.mutants.mutant import KERNEL, Mutant, within

SUITE = (
    "tests/runtime/test_plain_data_strangers.py",
    "tests/runtime/test_plain_data.py::test_a_number_is_written_in_one_way_alone",
    "tests/runtime/test_plain_data_twins.py",
)
IN_THE_KERNEL = within(
    KERNEL,
    SUITE,
    ("an object in two places is written twice", "plain_objects.h", "#define ONE_PLACE 2 ", "#define ONE_PLACE 3 "),
    (
        "what is written after strangers came is not expected again",
        "plain_objects.h",
        "return self->strangers || Py_REFCNT(value) > ONE_PLACE;",
        "return Py_REFCNT(value) > ONE_PLACE;",
    ),
    (
        "what is being written when strangers come may be a part of itself",
        "plain_objects.h",
        "if (know(self, each->value, OPEN)) return -1;",
        "if (!each) return -1;",
    ),
    (
        "what was written is never let go",
        "plain_objects.h",
        "for (Py_ssize_t number = 0; number < self->count; number++) Py_DECREF(self->list[number]);",
        "",
    ),
    (
        "keys are as deep as they like",
        "plain_keys.h",
        "self->left < 0 || depth > self->form->deepest",
        "self->left < 0",
    ),
    (
        "keys that are read are not measured",
        "plain_reading.h",
        "if (!measure(&left, key, 0)) return key;",
        "return key;",
    ),
    (
        "sets are written as they are iterated",
        "plain_writing.h",
        "if (!PyList_Sort(items)) return items;",
        "return items;",
    ),
    (
        "a list that grows while it is written is as long as it was",
        "plain_writing.h",
        "index = 0; index < PySequence_Fast_GET_SIZE(items); index++",
        "index = 0, end = PySequence_Fast_GET_SIZE(items); index < end; index++",
    ),
    (
        "a dict may grow while it is written",
        "plain_writing.h",
        "if (PyDict_GET_SIZE(value) != size) {",
        "if (size < 0) {",
    ),
    (
        "the way to what is not plain passes by",
        "plain_writing.h",
        "lead_there(self, NULL, index)",
        "lead_there(self, NULL, 0)",
    ),
    ("a key may be there twice", "plain_reading.h", "if (PyDict_GET_SIZE(found) != number + 1) {", "if (number < 0) {"),
    (
        "what makers raise is not told as the reason",
        "plain_reading.h",
        "!PyErr_ExceptionMatches(PyExc_Exception)",
        "!PyErr_ExceptionMatches(PyExc_ValueError)",
    ),
    ("the empty tuple has a number", "plain_reading.h", "return found && PyTuple_GET_SIZE(found) ?", "return found ?"),
    (
        "small numbers may be long",
        "plain_simple.h",
        "if (number >= -128 && number < 128)",
        "if (number >= 0 && number < 128)",
    ),
    ("large numbers may be longer", "plain_simple.h", "is_large && size == bits / 8 + 1", "is_large"),
)
MUTANTS = (
    *IN_THE_KERNEL,
    Mutant(
        "keys are as deep as they like, in Python",
        "progress/runtime/durable/encoding/form.py",
        "if left < 0 or depth > DEEPEST:",
        "if left < 0:",
        SUITE,
    ),
    Mutant(
        "sets in sets are put in order for each set around them",
        "progress/runtime/durable/encoding/writing.py",
        "        if self._around:\n",
        "        if not self._orders and not self._around:\n",
        ("tests/runtime/test_plain_data.py::test_sets_in_sets_are_put_in_order_once",),
    ),
    Mutant(
        "the empty tuple is as deep as it likes",
        "progress/runtime/durable/encoding/writing.py",
        "        if kind is str:\n",
        '        if value == () and kind is tuple:\n            add(SIZED.pack(b"(", 0))\n        elif kind is str:\n',
        ("tests/runtime/test_plain_data.py::test_what_is_nested_too_deeply_is_refused_on_both_sides",),
    ),
)
