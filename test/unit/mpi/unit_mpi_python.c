/* unit_mpi_python.c: tests how the traceback of an interpreter becomes a place, and that anything else becomes none. */
#include "test.h"

#include "mpi/observe/python.c"

static int parse(const char *traceback, struct python_place *place) {
    static char text[TEXT];
    snprintf(text, sizeof text, "%s", traceback);
    return python_parse(text, place);
}

TEST(the_innermost_frame)
{
    struct python_place p;
    expect(parse("Stack (most recent call first):\n  File \"/data/a b/app.py\", line 12 in step\n"
                 "  File \"/data/a b/app.py\", line 40 in <module>\n",
                 &p));
    expect(!strcmp(p.file, "/data/a b/app.py"));
    expect(!strcmp(p.function, "step"));
    expect_eq(p.line, 12);
}

TEST(files_of_the_binding_are_passed_over)
{
    struct python_place p;
    expect(parse("  File \"/usr/lib/python3/dist-packages/mpi4py/util/sync.py\", line 7 in get\n"
                 "  File \"app.py\", line 3 in main\n",
                 &p));
    expect(!strcmp(p.file, "app.py"));
    expect_eq(p.line, 3);
    expect(parse("  File \"/usr/lib/python3/dist-packages/mpi4py/run.py\", line 7 in get\n", &p));
    expect_eq(p.line, 7); /* there is no other */
}

TEST(odd_names)
{
    struct python_place p;
    expect(parse("  File \"a\", line 5 in b.py\", line 9 in f\n", &p));
    expect(!strcmp(p.file, "a\", line 5 in b.py"));
    expect_eq(p.line, 9);
    expect(parse("  File \"\\u043f\\u0440.py\", line 1 in <lambda>\n", &p));
    expect(!strcmp(p.function, "<lambda>"));
}

TEST(anything_else_is_no_place)
{
    struct python_place p;
    const char *const others[] = {"",
                                  "Stack (most recent call first):\n",
                                  "  <no Python frame>\n",
                                  "  File \"app.py\", line 12 in step", /* cut off */
                                  "  File \"app.py\", line ??? in step\n",
                                  "  File \"app.py\", line 0 in step\n",
                                  "  File \"app.py\", line 12\n",
                                  "  File \"\", line 12 in step\n",
                                  "  File ???, line 12 in step\n"};
    for (size_t i = 0; i < sizeof others / sizeof *others; i++)
        expect(!parse(others[i], &p));
}

TEST(a_place_is_kept_once_and_found_by_its_address)
{
    struct python_place a = {(char *)"a.py", (char *)"f", 1}, b = {(char *)"a.py", (char *)"f", 2};
    const struct python_place *first = python_keep(&a), *second = python_keep(&b);
    expect(first && second && first != second);
    expect(python_keep(&a) == first);
    expect(python_place_at((uintptr_t)first) == first);
    expect(!python_place_at((uintptr_t)&a));
    expect(!python_place_at(0));
    for (uint64_t line = 0; line < 2 * PLACES; line++)
        python_keep(&(struct python_place){(char *)"b.py", (char *)"g", line});
    expect_eq(place_count, PLACES);
    expect(!python_keep(&(struct python_place){(char *)"c.py", (char *)"h", 1}));
}

TEST(without_an_interpreter_there_is_no_place)
{
    python_start();
    expect(!python_here((uintptr_t)__builtin_return_address(0)));
}

TEST(which_files_call_for_python)
{
    expect(is_python_file("/usr/lib/python3/dist-packages/mpi4py/MPI.cpython-311-x86_64-linux-gnu.so"));
    expect(is_python_file("/opt/lib/_h.abi3.so"));
    expect(is_python_file("/lib/libffi.so.8"));
    expect(is_python_file("/usr/bin/python3.11"));
    expect(!is_python_file("/opt/lib/libpetsc.so.3"));
    expect(!is_python_file("/data/python/app"));
}
