"""Writers of data sets, one file per format."""
