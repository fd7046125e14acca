"""The figures of the four papers: what they say in words, and where our measurements of the same are. figures.py says what the fields mean.

Quotes are the papers' own words: their curves are not in their texts, and are not read off. A number that a text does not give is
"not given"."""
from . import armci, clampi, matching, programs, vgasnet

PAPERS = [programs.PAPER, clampi.PAPER, matching.PAPER, armci.PAPER, vgasnet.PAPER]
