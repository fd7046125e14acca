"""The figures of the four papers: their statements in words, and the place of our measurements. figures.py defines
the fields.

Quotes are the papers' own words: the texts do not contain the values of their curves, and these are not read off the
plots. A number that a text does not give is "not given"."""
from . import armci, clampi, matching, programs, vgasnet, windows

PAPERS = [programs.PAPER, windows.PAPER, clampi.PAPER, matching.PAPER, armci.PAPER, vgasnet.PAPER]
