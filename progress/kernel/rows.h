/* Growing arrays of times, all of one length. */

#pragma once

#include <Python.h>
#include <limits.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#define MOST_PLACES 8
#define NONE INT64_MIN
#define UNBOUNDED INT64_MAX
#define LARGEST ((int64_t)1 << 61)

typedef int64_t number;

typedef struct {
    number *data;
    Py_ssize_t count, room;
} Rows;

static int rows_reserve(Rows *rows, Py_ssize_t more, int places)
{
    if (rows->count + more <= rows->room) return 0;
    Py_ssize_t room = rows->room ? rows->room * 2 : 2;
    if (room < rows->count + more) room = rows->count + more;
    number *data = PyMem_Realloc(rows->data, (size_t)room * (size_t)places * sizeof(number));
    if (!data) return -1;
    rows->data = data;
    rows->room = room;
    return 0;
}

static int rows_append(Rows *rows, const number *row, int places)
{
    if (rows_reserve(rows, 1, places)) return -1;
    memcpy(rows->data + rows->count * places, row, (size_t)places * sizeof(number));
    rows->count++;
    return 0;
}

static void rows_free(Rows *rows)
{
    PyMem_Free(rows->data);
    rows->data = NULL;
    rows->count = rows->room = 0;
}

static inline int compare(const number *one, const number *other, int places)
{
    for (int place = 0; place < places; place++)
        if (one[place] != other[place]) return one[place] < other[place] ? -1 : 1;
    return 0;
}
