"""Conversations as files for other programs: Markdown and HTML of the active path, JSON of the whole tree.

Pure functions over values; only `gather` reads from a store. Keys are not part of any value here, so none can
get into a file.
"""

from bibgenie_desktop.services.export.gather import FORMATS, ExportFormat, Material, gather, whole_path, write
from bibgenie_desktop.services.export.html import export_html
from bibgenie_desktop.services.export.markdown import export_markdown
from bibgenie_desktop.services.export.whole import export_json

__all__ = [
    "FORMATS",
    "ExportFormat",
    "Material",
    "export_html",
    "export_json",
    "export_markdown",
    "gather",
    "whole_path",
    "write",
]
