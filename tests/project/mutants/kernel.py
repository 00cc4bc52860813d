"""The kernel. Its twin is judged where the kernel is off: half of the sessions and a part of the other tests."""

from __future__ import annotations

from tests.project.mutants.engines import ENGINE_SUITE
from tests.project.mutants.mutant import KERNEL, within

MUTANTS = within(
    KERNEL,
    ENGINE_SUITE,
    # the kernel
    (
        "count leak: of many messages consumed at once the kernel counts one",
        "steps.h",
        "change_count(self, location->target, item->row, item->change);",
        "change_count(self, location->target, item->row, item->change < 0 ? -1 : item->change);",
    ),
    (
        "the usual step consumes more than there is",
        "steps.h",
        "item->before + item->change < 0)",
        "(!item->before && item->change < 0))",
    ),
    (
        "the usual step delivers what is not ready",
        "steps.h",
        "if (there != Py_None) return -1;",
        "if (!there) return -1;",
    ),
    (
        "the usual step takes what does not follow",
        "steps.h",
        "usual = follows(self, items, count, &items[index]);",
        "usual = 1;",
    ),
    (
        "a usual step that moves what is watched leaves nothing to do",
        "steps.h",
        "!self->news && !self->moved_count && !self->woken_count",
        "!self->news && !self->woken_count",
    ),
    (
        "a usual step that releases waiters leaves nothing to do",
        "steps.h",
        "!self->moved_count && !self->woken_count",
        "!self->moved_count",
    ),
    ("a usual step that delivers leaves nothing to do", "steps.h", " && !calls;", ";"),
    (
        "an input moves back in a usual step",
        "steps.h",
        "(now && (!is_open || !is_before(location, was, is)))",
        "(now && !is_open)",
    ),
    (
        "what comes in is judged by whether its input is open, at whatever time",
        "steps.h",
        "return is_open && is_before(location, row, item->row);",
        "return is_open;",
    ),
    (
        "an input that moves in a usual step stays outstanding where it was",
        "steps.h",
        "if (before && add_open(location, before, was, -1, items, count)) return -1;",
        "Py_XDECREF(before);",
    ),
    (
        "an input that a usual step moves is not written down",
        "steps.h",
        "broken = !open || PyObject_SetAttr(location->input, open_word, open);",
        "broken = !open;",
    ),
    (
        "the usual step writes a pointstamp twice",
        "steps.h",
        "for (const Item *other = items; other < item; other++)",
        "for (const Item *other = items; other < items; other++)",
    ),
    (
        "a request that the usual step delivers keeps its outstanding time",
        "steps.h",
        "change_count(self, arc->target, results + result * places, item->change);",
        "if (item->change > 0) change_count(self, arc->target, results + result * places, item->change);",
    ),
    (
        "a component of total orders in the kernel is not told of what comes",
        "propagation.h",
        "if (target->total && !target->unit) continue;",
        "if (target->total) continue;",
    ),
    (
        "where little comes, own times are forgotten",
        "propagation.h",
        "if (own) memcpy(kept + places * count++, own->row, size);",
        "if (own && !vertex->entering_count) memcpy(kept + places * count++, own->row, size);",
    ),
    (
        "refilling ends with the first region",
        "frontiers.h",
        "} else {\n            start = end;\n            below = vertex->frontier.data[2 * place + 1];\n        }",
        "} else {\n            return;\n        }",
    ),
    ("waiters are released in the first region only", "waiters.h", "regions.start = end;", "return;"),
    (
        "an arc in the kernel forgets the leftmost time that a lost one covered",
        "frontiers.h",
        "from = stair_at(source, left - 1) + 1;",
        "from = stair_at(source, left) + 1;",
    ),
    (
        "what left a component and came back counts as come",
        "propagation.h",
        "if (holds(vertex, row) && !among(&vertex->lost, row, places))",
        "if (holds(vertex, row))",
    ),
    (
        "an arc with a floor is run backwards as one without",
        "building.h",
        "&& kind->pieces[0].floor[place] == NONE;",
        ";",
    ),
    (
        "upper bounds of boxes are forgotten",
        "frontiers.h",
        "inside = row[place] >= piece->low[place] && row[place] <= piece->high[place];",
        "inside = row[place] >= piece->low[place];",
    ),
    (
        "in three places a time covers what it is not below",
        "frontiers.h",
        "if (!at_or_below(row, other, places)) {",
        "if (row[0] > other[0]) {",
    ),
)
