"""Reads the parameters that the source of a test declares near its top: "ranks: 2; timeout: 60; configs: on off;
tier: full"."""
import functools
import re
from pathlib import Path

FORMS = {
    "ranks": r"\d+",
    "timeout": r"\d+",
    "tier": r"quick|full|nightly",
    "asan": r"full",
    "tsan": r"no",
    "coverage": r"no",
    "once": r"yes",
    "quick": r"mpich|openmpi",
    "alone": r"yes",
    "waits": r"yes",
    "busy": r"mpich|openmpi",
    "configs": r"(?:(?:bare|off|on|tiny|huge|acquire|rest|auto|serve|serve1|serve2|servempi|servedirect|servematch|match|list|host|small|ucx|mpi|nodes1|nodes2|node|real|direct"
               r"|off1|offmpi|offtiny|alone|pagesmpi|userfault)\b *)+",
}


@functools.lru_cache(maxsize=None)
def head(path):
    try:
        with open(path, encoding="utf-8", errors="replace") as file:
            return "".join(line for _, line in zip(range(30), file))
    except OSError:
        return ""


@functools.lru_cache(maxsize=None)
def field(path, key, default=None):
    found = re.search(rf"\b{key}: *({FORMS[key]})", head(path)) if path else None
    return found.group(1).strip() if found else default


@functools.lru_cache(maxsize=None)
def contains(path, text):
    try:
        return text in Path(path).read_text(encoding="utf-8", errors="replace")
    except OSError:
        return False


def of_unit(name):
    """The source of unit_NAME: test/unit/FOLDER/unit_NAME.c; empty if there is none, as for fuzz targets."""
    return next(map(str, Path("test/unit").glob(f"*/{name}.c")), "")


@functools.lru_cache(maxsize=None)
def of_program(name):
    """The source of mpi_NAME, p2p_NAME...: NAME.c and the like in test/mpi or below it; empty if there is none of that name."""
    folder, _, base = name.partition("_")
    for stem in (base, name):
        for ending in (".c", ".cpp", ".f90", ".F90"):
            for path in Path("test", folder).rglob(stem + ending):
                return str(path)
    return ""
