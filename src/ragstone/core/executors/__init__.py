"""Where blocks of rows are computed: in this process, in several ones, on Dask or on Ray."""
