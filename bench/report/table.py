"""Tables of the benches: CSV files whose first line names the columns. Cells are text; number() converts."""
import csv
from pathlib import Path


def number(text):
    """The value of a cell; 0 if it is empty, absent or no number."""
    try:
        return float(text)
    except (TypeError, ValueError):
        return 0.0


class Table:
    """Rows as dictionaries by column name."""

    def __init__(self, columns=(), rows=()):
        self.columns = list(columns)
        self.rows = list(rows)

    def select(self, **wanted):
        """The rows whose columns have these values."""
        pairs = [(name, str(value)) for name, value in wanted.items()]
        return [row for row in self.rows if all(row.get(name) == value for name, value in pairs)]

    def distinct(self, column, **wanted):
        """The values of a column, in the order in which they first occur."""
        return list(dict.fromkeys(row[column] for row in self.select(**wanted)))

    def index(self, *columns):
        return Index(self, columns)


class Index:
    """Finds rows by the values of some columns; numbers are given as they are written in the table."""

    def __init__(self, table, columns):
        self.groups = {}
        for row in table.rows:
            self.groups.setdefault(tuple(row[name] for name in columns), []).append(row)

    def rows(self, *key):
        return self.groups.get(tuple(str(part) for part in key), [])

    def last(self, *key):
        """The row that was written last, or None."""
        return (self.rows(*key) or [None])[-1]

    def value(self, column, *key):
        """A number of the last row, or None if there is no such row."""
        row = self.last(*key)
        return None if row is None else number(row[column])


def read(path):
    """The table in a file; an empty one if there is no file. A line without all cells is left out: it was cut off, or a launcher has
    printed it when it ended a job."""
    path = Path(path)
    if not path.exists():
        return Table()
    with open(path, encoding="utf-8", newline="") as file:
        lines = csv.reader(file)
        columns = next(lines, [])
        rows = [dict(zip(columns, cells)) for cells in lines if len(cells) == len(columns)]
    return Table(columns, rows)


def read_folder(folder):
    """All tables below a folder of results, by FOLDER/NAME."""
    paths = sorted(Path(folder).glob("*/*.csv"))
    return {f"{path.parent.name}/{path.stem}": read(path) for path in paths}
