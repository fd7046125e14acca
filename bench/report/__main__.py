"""python3 -m report COMMAND FOLDER [NAME=VALUE]...

  results FOLDER [figures=FILE]     the page of results, from the tables of all benches in FOLDER: results.md, .html and .csv
  BENCH FOLDER [NAME=VALUE]...      the report of one bench on standard output: armci, barnes-hut, clampi, dft, dgemm, halo, lcc, match,
                                    modes, osu, overhead, pgas, programs, scores, sim, vgasnet, windows; the function report of its module names its settings
  plots FOLDER bench=BENCH [...]    draws the plots of one bench
  narrow TABLE value=COLUMN [...]   exit status 0 if all 95 % intervals of a table are within 5 %; see narrow.py
  nvm-rate FOLDER share=N           the throttled rate of the NVM: 1/N of the network's rate; see vgasnet.py
  picture results.csv               the picture of doc/results.md on standard output
"""
import importlib
import inspect
import sys

COMMANDS = {
    "results": ("results", "results"),
    "plots": ("plot", "plots"),
    "narrow": ("narrow", "narrow"),
    "nvm-rate": ("vgasnet", "nvm_rate"),
    "picture": ("picture", "picture"),
}
BENCHES = "armci barnes-hut clampi dft dgemm halo lcc match modes osu overhead pgas programs scores sim vgasnet windows".split()


def main(arguments):
    if len(arguments) < 2 or (arguments[0] not in COMMANDS and arguments[0] not in BENCHES):
        print(__doc__, file=sys.stderr)
        return 2
    command, folder, *settings = arguments
    module, function = COMMANDS.get(command, (command.replace("-", "_"), "report"))
    call = getattr(importlib.import_module("." + module, __package__), function)
    named = dict(setting.partition("=")[::2] for setting in settings)
    try:
        inspect.signature(call).bind(folder, **named)
    except TypeError as error:
        print(f"report: {command}: {error}", file=sys.stderr)
        return 2
    for line in call(folder, **named):
        print(line)
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
