"""Data sets: one reader a file layout, one type for all of them."""
