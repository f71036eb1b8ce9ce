"""Values and rules: message, tree, projection, capacity, boundary, checkpoint, states.

Pure and synchronous. Nothing here knows a database, a network, a window or the time of day.
"""
