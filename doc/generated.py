"""The end of the generators of doc/: writes a page, or compares it with what is there."""
from pathlib import Path


def put(text, target, check):
    """Returns the exit status: 1 if `check` is set and the page is another."""
    target = Path(target)
    if not check:
        target.write_text(text, encoding="utf-8")
    elif not target.exists() or target.read_text(encoding="utf-8") != text:
        print(f"{target.name} is not what its data generates: run make docs")
        return 1
    return 0
