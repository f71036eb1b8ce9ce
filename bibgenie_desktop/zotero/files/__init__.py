"""The files of a library: where they lie, and what can be read of them, in a worker process."""
