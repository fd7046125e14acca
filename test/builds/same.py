"""Prints the object of each source that a tree compiles with the same options as one of others, as lines `SOURCE OBJECT`: the object is that of
the other.

  same.py TREE OTHER..."""
import json
import os
import re
import shlex
import sys


def commands(tree):
    """Pairs of a source and its options, and the object. The folder of the tree counts as the same; launchers do not count."""
    compiler = re.search(r"^CMAKE_C_COMPILER:[A-Z]*=(.*)", open(os.path.join(tree, "CMakeCache.txt")).read(), re.M).group(1)
    for entry in json.load(open(os.path.join(tree, "compile_commands.json"))):
        words = shlex.split(entry["command"])
        if compiler not in words:  # C++
            continue
        words = words[words.index(compiler):]
        out = words.index("-o")
        options = tuple(word.replace(tree, "TREE") for word in words[:out] + words[out + 2:])
        yield (entry["file"], options), os.path.join(entry["directory"], words[out + 1])


tree, *others = map(os.path.abspath, sys.argv[1:])
built, wanted = {}, {}
for other in others:
    built.update(commands(other))
for (source, options), _ in commands(tree):
    wanted.setdefault(source, set()).add(options)
for source, all_options in wanted.items():
    found = {built.get((source, options)) for options in all_options} - {None}
    if len(all_options) == len(found) == 1 and os.path.exists(*found):
        print(source, *found)
