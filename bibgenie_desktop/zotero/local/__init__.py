"""The library on this computer: where it is, a private copy of its bytes, rows to values."""
