"""Reports of the benches: the page of results, one report per bench, and the plots. Run as python3 -m report; see
__main__.py.

Every number comes from a table that a bench has written, or is a quote in claims/. Tables are CSV files whose first
line names the columns; a job that failed has no rows."""
