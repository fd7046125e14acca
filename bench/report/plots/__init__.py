"""The contents of the plots of each bench; plot.py draws them."""
