"""The application's own index of a library: metadata and texts, built and kept beside the window."""
