"""lines_run.py: repeats the gets of lines.py and lines_mpich.py; with the argument threads from a second thread, while the first one runs
Python code."""
import os
import sys
import threading
import time

TIMES = 300 if os.environ.get("HEARTH_TEST_TIER") == "quick" else 1000

def run(fetch, deep):
    def work():
        for i in range(TIMES):
            fetch(i % 10)
            deep(200)
            time.sleep(0.001)  # the report may take a share of the run

    if "threads" not in sys.argv:
        work()
        return
    worker = threading.Thread(target=work)
    worker.start()
    while worker.is_alive():
        sum(range(1000))
    worker.join()
