"""The guided tour: the real window driven through the main job, with a picture and a check for each step."""

from bibgenie_desktop.gui.tour.hands import TourFailed
from bibgenie_desktop.gui.tour.scene import Stage
from bibgenie_desktop.gui.tour.tour import Tour

__all__ = ["Stage", "Tour", "TourFailed"]
