"""The Context dock: how full the next request is, by kind; what the model sees; what was spent; the
checkpoints so far and what changed in each; what is pinned; and at its foot the dry run of a compaction.
"""

from bibgenie_desktop.gui.docks.context.panel import ContextPanel
from bibgenie_desktop.gui.docks.context.request import RequestDialog
from bibgenie_desktop.gui.docks.context.values import ContextView, CostView, SeenLine

__all__ = ["ContextPanel", "ContextView", "CostView", "RequestDialog", "SeenLine"]
