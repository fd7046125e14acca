/* python.c: see python.h.
 *
 * mpi4py releases the interpreter's lock (GIL) around MPI calls, and Hearth must not wait for it: another thread may hold it
 * and wait for Hearth. Without it, objects may not be referenced or made, so that the public functions for frames cannot be
 * called. Two functions can: PyGILState_GetThisThreadState returns the state of this thread, whose frames do not change before
 * the call returns, and _Py_DumpTraceback, which the interpreter has for its fault handler, writes them to a file descriptor
 * without allocation, reference counts or locks. Python 3.3 to 3.12 export it, and 3.15 under a public name. Where a symbol is
 * missing or the text is not what is expected, the call site remains an address.
 *
 * A pipe takes the text. If it is full, the rest is lost: only the innermost frames matter. Places are kept for the rest of
 * the run; the address of a place identifies it. */
#include "mpi/observe/python.h"

#include <dlfcn.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum { PLACES = 256, TEXT = 4096 };

static struct python_place places[PLACES];
static unsigned place_count;
static int ends[2] = {-1, -1};

typedef void *thread_state_function(void);
typedef void dump_function(int fd, void *thread_state);
static thread_state_function *this_thread_state;
static dump_function *dump_traceback;

/* A function pointer cannot be assigned from void * in ISO C. */
static void python_find(const char *name, void *function) {
    void *found = dlsym(RTLD_DEFAULT, name);
    memcpy(function, &found, sizeof found);
}

void python_start(void) {
    python_find("PyGILState_GetThisThreadState", &this_thread_state);
    python_find("PyUnstable_DumpTraceback", &dump_traceback);
    if (!dump_traceback)
        python_find("_Py_DumpTraceback", &dump_traceback);
    if (this_thread_state && dump_traceback && ends[0] < 0 && pipe2(ends, O_CLOEXEC | O_NONBLOCK))
        ends[0] = -1;
}

/* ---- which calls Python makes ---- */

/* Extension modules are named NAME.cpython-311-aarch64-linux-gnu.so or NAME.abi3.so; ctypes and cffi call through libffi. */
static int is_python_file(const char *path) {
    const char *slash = strrchr(path, '/'), *name = slash ? slash + 1 : path;
    return strstr(name, ".cpython-") || strstr(name, ".abi3.") || !strncmp(name, "libffi", 6) ||
           !strncmp(name, "libpython", 9) || !strncmp(name, "python", 6);
}

static int is_from_python(uintptr_t caller) {
    static uintptr_t last;
    static int last_is;
    Dl_info info;
    if (caller != last) {
        last_is = dladdr((void *)(caller - 1), &info) && info.dli_fname && is_python_file(info.dli_fname);
        last = caller;
    }
    return last_is;
}

/* ---- the traceback ---- */

/* `  File "NAME", line NUMBER in FUNCTION`, without its end of line. */
static int python_parse_line(char *line, struct python_place *place) {
    static const char before[] = "  File \"", between[] = "\", line ";
    char *number = NULL, *end;
    if (strncmp(line, before, sizeof before - 1))
        return 0;
    for (char *at = line; (at = strstr(at, between)); at++)
        number = at;
    if (!number)
        return 0;
    place->file = line + sizeof before - 1;
    place->line = strtoull(number + sizeof between - 1, &end, 10);
    if (!place->line || strncmp(end, " in ", 4) || !end[4] || place->file == number)
        return 0;
    *number = 0;
    place->function = end + 4;
    return 1;
}

int python_parse(char *text, struct python_place *place) {
    struct python_place next;
    int is_found = 0;
    for (char *end; (end = strchr(text, '\n')); text = end + 1) {
        *end = 0;
        if (!python_parse_line(text, &next))
            continue;
        if (!is_found)
            *place = next;
        is_found = 1;
        if (!strstr(next.file, "/mpi4py/")) {
            *place = next;
            break;
        }
    }
    return is_found;
}

/* The thread state of a thread that Python does not know is NULL. */
static size_t python_dump(char *text) {
    char rest[TEXT];
    void *state = this_thread_state();
    if (!state)
        return 0;
    dump_traceback(ends[1], state);
    ssize_t length = read(ends[0], text, TEXT - 1);
    while (length == TEXT - 1 && read(ends[0], rest, sizeof rest) > 0)
        ;
    return length > 0 ? (size_t)length : 0;
}

/* ---- places ---- */

static const struct python_place *python_keep(const struct python_place *place) {
    for (unsigned i = 0; i < place_count; i++)
        if (places[i].line == place->line && !strcmp(places[i].file, place->file) &&
            !strcmp(places[i].function, place->function))
            return &places[i];
    if (place_count == PLACES)
        return NULL;
    struct python_place kept = {strdup(place->file), strdup(place->function), place->line};
    if (!kept.file || !kept.function) {
        free(kept.file);
        free(kept.function);
        return NULL;
    }
    places[place_count] = kept;
    return &places[place_count++];
}

const struct python_place *python_here(uintptr_t caller) {
    char text[TEXT];
    struct python_place place;
    if (ends[0] < 0 || !is_from_python(caller))
        return NULL;
    text[python_dump(text)] = 0;
    return python_parse(text, &place) ? python_keep(&place) : NULL;
}

const struct python_place *python_place_at(uintptr_t address) {
    uintptr_t first = (uintptr_t)places, last = (uintptr_t)&places[PLACES - 1];
    return address >= first && address <= last ? (const struct python_place *)address : NULL;
}
