"""Between views and services: wishes become coroutines, events become rows and signals."""
