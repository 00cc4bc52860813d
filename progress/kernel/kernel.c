/* The compiled twin of progress/engines/eager.py, for times that are numbers or rows of numbers.
 *
 * The same algorithm, word for word: outstanding times, frontiers and waiters at every vertex; support that runs down in
 * rank order; a component as one unit. What differs is how things are kept. Outstanding times and waiters of a vertex are
 * treaps in lexicographic order, which for pairs know the least second coordinate below each node; frontiers are sorted
 * arrays of rows. Numbers have 64 bits; what goes beyond raises OverflowError, and the caller goes on with the twin.
 *
 * One call is one update: all changes in, all released waiters out.
 *
 * Plain data, as progress/runtime/durable writes and reads it, has parts of its own: those that begin with plain_. */

#define PY_SSIZE_T_CLEAN
#include <Python.h>

/* One translation unit: each part uses those before it. */
#include "rows.h"
#include "trees.h"
#include "graph.h"
#include "frontiers.h"
#include "waiters.h"
#include "propagation.h"
#include "calls.h"
#include "locations.h"
#include "steps.h"
#include "building.h"
#include "plain_form.h"
#include "plain_simple.h"
#include "plain_objects.h"
#include "plain_keys.h"
#include "plain_writing.h"
#include "plain_reading.h"

static PyObject *get_visits(Kernel *self, void *Py_UNUSED(nothing))
{
    return PyLong_FromUnsignedLongLong(self->visits);
}

static PyObject *get_examined(Kernel *self, void *Py_UNUSED(nothing))
{
    return PyLong_FromUnsignedLongLong(self->examined);
}

static PyObject *get_entries(Kernel *self, void *Py_UNUSED(nothing))
{
    return PyLong_FromLongLong(self->entries);
}

static PyObject *get_news(Kernel *self, void *Py_UNUSED(nothing))
{
    return PyBool_FromLong(self->news || self->moved_count);
}

static PyMethodDef methods[] = {
    {"update", (PyCFunction)kernel_update, METH_O, "Change what is outstanding; the waiters that this releases."},
    {"rebuild", (PyCFunction)kernel_rebuild, METH_O, "As update, however much work it is."},
    {"wait", (PyCFunction)(void (*)(void))kernel_wait, METH_FASTCALL, "Wait as long as the frontier covers a time."},
    {"covers", (PyCFunction)(void (*)(void))kernel_covers, METH_FASTCALL, "Whether the frontier covers a time."},
    {"times", (PyCFunction)kernel_times, METH_O, "The frontier of a vertex."},
    {"watch", (PyCFunction)kernel_watch, METH_O, "Note from now on when the frontier of a vertex moves."},
    {"take_moved", (PyCFunction)kernel_take_moved, METH_NOARGS, "The watched vertices that moved since the last call, and how."},
    {"know", (PyCFunction)kernel_know, METH_VARARGS, "Know a location, so that steps may name it."},
    {"forget", (PyCFunction)kernel_forget, METH_O, "Know a location no more."},
    {"listen", (PyCFunction)kernel_listen, METH_VARARGS, "Note from now on when what lies at a location changes, or no more."},
    {"step", (PyCFunction)(void (*)(void))kernel_step, METH_FASTCALL,
     "Take a usual step; the waiters that it releases, False where nothing is left to do, None where it did not happen."},
    {NULL, NULL, 0, NULL},
};

static PyGetSetDef getters[] = {
    {"visits", (getter)get_visits, NULL, "How often a vertex was put right.", NULL},
    {"news", (getter)get_news, NULL, "Whether a watched vertex moved, or the last usual step changed what is listened to.", NULL},
    {"entries", (getter)get_entries, NULL, "How many entries usual steps have made in ledgers, less the removed ones.", NULL},
    {"examined", (getter)get_examined, NULL, "How often a waiter was compared with a frontier.", NULL},
    {NULL, NULL, NULL, NULL, NULL},
};

static PyType_Slot slots[] = {
    {Py_tp_doc, "Frontiers and waiters over a graph of vertices and arcs."},
    {Py_tp_new, kernel_new},
    {Py_tp_dealloc, kernel_dealloc},
    {Py_tp_methods, methods},
    {Py_tp_getset, getters},
    {0, NULL},
};

static PyType_Spec spec = {
    .name = "progress._kernel.Kernel",
    .basicsize = sizeof(Kernel),
    .flags = Py_TPFLAGS_DEFAULT | Py_TPFLAGS_BASETYPE,
    .slots = slots,
};

static PyMethodDef plain_methods[] = {
    {"encoded", (PyCFunction)(void (*)(void))plain_encoded, METH_FASTCALL, "The bytes of plain data."},
    {"decoded", (PyCFunction)(void (*)(void))plain_decoded, METH_FASTCALL, "The plain data that these bytes are."},
    {NULL, NULL, 0, NULL},
};

static PyType_Slot plain_slots[] = {
    {Py_tp_doc, "How plain data becomes bytes and is read again."},
    {Py_tp_new, plain_new},
    {Py_tp_dealloc, plain_dealloc},
    {Py_tp_traverse, plain_traverse},
    {Py_tp_clear, plain_clear},
    {Py_tp_methods, plain_methods},
    {0, NULL},
};

static PyType_Spec plain_spec = {
    .name = "progress._kernel.PlainData",
    .basicsize = sizeof(PlainData),
    .flags = Py_TPFLAGS_DEFAULT | Py_TPFLAGS_HAVE_GC,
    .slots = plain_slots,
};

static int add_type(PyObject *module, const char *name, PyType_Spec *from)
{
    PyObject *type = PyType_FromSpec(from);
    int added = type ? PyModule_AddObjectRef(module, name, type) : -1;
    Py_XDECREF(type);
    return added;
}

static int fill_module(PyObject *module)
{
    if (add_type(module, "Kernel", &spec) || add_type(module, "PlainData", &plain_spec)) return -1;
    if (!open_word && !(open_word = PyUnicode_InternFromString("open"))) return -1;
    if (!too_much_work) too_much_work = PyErr_NewException("progress._kernel.TooMuchWork", NULL, NULL);
    return too_much_work ? PyModule_AddObjectRef(module, "TooMuchWork", too_much_work) : -1;
}

static PyModuleDef_Slot module_slots[] = {
    {Py_mod_exec, fill_module},
#ifdef Py_mod_gil /* 3.13 and later: a kernel has no lock of its own, nor has what sorting knows (`compare_places`) */
    {Py_mod_gil, Py_MOD_GIL_USED},
#endif
    {0, NULL},
};

static struct PyModuleDef module = {
    .m_base = PyModuleDef_HEAD_INIT,
    .m_name = "progress._kernel",
    .m_doc = "The compiled twins of progress.engines.eager and of plain data.",
    .m_slots = module_slots,
};

PyMODINIT_FUNC PyInit__kernel(void)
{
    return PyModuleDef_Init(&module);
}
