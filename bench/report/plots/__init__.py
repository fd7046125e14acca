"""What the plots of each bench show; plot.py draws it."""
