"""The few sentences that the built-in assistant says itself, in its three languages."""

from __future__ import annotations

from dataclasses import dataclass

from bibgenie_desktop.providers.builtin.words import Language


@dataclass(frozen=True, slots=True)
class Phrases:
    found: str
    differ: str
    looked: str
    nothing: str
    tried: str
    advice: str
    unread: str
    gone: str
    matching: str
    newest: str
    no_search: str
    no_library: str
    unreadable: str
    reads_pdfs: str
    help: str
    self: str
    related: str
    work: str


PHRASES: dict[Language, Phrases] = {
    "en": Phrases(
        found="Your library says this on {0}:",
        differ="These passages point in different directions; I quote both and do not decide between them.",
        looked="Looked into {0} of {1} items found.",
        nothing="I found nothing in your library on {0}.",
        tried="Searched for: {0}.",
        advice="Try other or fewer words, or the language the sources are written in.",
        unread="No passage on {0} could be quoted.",
        gone="The PDF is not on this computer: {0}. Open it once in Zotero, which downloads it.",
        matching="Items whose title, abstract or tags match:",
        newest="Your library holds {0} items; the newest are:",
        no_library=(
            "No Zotero library is in use yet: choose one on the first page or in the settings, then ask "
            "again."
        ),
        unreadable="“{0}” cannot be read here: {1}",
        reads_pdfs="it has no PDF, and I read PDFs only.",
        no_search="I cannot search here: this model's window leaves no room for the library tools.",
        help=(
            "Ask me about a topic in your Zotero library, for example “How does sleep affect memory?”, or "
            "name an item. I search, read the pages that match best and quote them."
        ),
        self="Built-in assistant: I find and quote passages; I do not reason.",
        related="No sentence has the words {0}. The pages that fit them best say:",
        work="This is what the work itself says:",
    ),
    "de": Phrases(
        found="Ihre Bibliothek sagt zu {0}:",
        differ="Diese Stellen weisen in verschiedene Richtungen; ich zitiere beide und entscheide nicht.",
        looked="{0} von {1} gefundenen Einträgen durchgesehen.",
        nothing="In Ihrer Bibliothek habe ich nichts zu {0} gefunden.",
        tried="Gesucht nach: {0}.",
        advice="Versuchen Sie andere oder weniger Wörter, oder die Sprache der Quellen.",
        unread="Zu {0} ließ sich keine Stelle zitieren.",
        gone="Das PDF ist nicht auf diesem Rechner: {0}. Öffnen Sie es einmal in Zotero, das es dann lädt.",
        matching="Einträge, deren Titel, Zusammenfassung oder Schlagwörter passen:",
        newest="Ihre Bibliothek enthält {0} Einträge; die neuesten sind:",
        no_library=(
            "Es ist noch keine Zotero-Bibliothek in Gebrauch: Wählen Sie eine auf der ersten Seite oder in "
            "den Einstellungen und fragen Sie dann noch einmal."
        ),
        unreadable="„{0}“ ist hier nicht lesbar: {1}",
        reads_pdfs="Es gibt kein PDF davon, und ich lese nur PDFs.",
        no_search="Ich kann hier nicht suchen: Im Fenster dieses Modells ist kein Platz für die Werkzeuge.",
        help=(
            "Fragen Sie nach einem Thema Ihrer Zotero-Bibliothek, etwa „Wie wirkt Schlaf auf das "
            "Gedächtnis?“, oder nennen Sie einen Eintrag. Ich suche, lese die passendsten Seiten und "
            "zitiere sie."
        ),
        self="Eingebauter Assistent: Ich finde und zitiere Stellen; ich ziehe keine Schlüsse.",
        related="Kein Satz enthält die Wörter {0}. Auf den Seiten, die am besten dazu passen, steht:",
        work="Das sagt die Arbeit selbst:",
    ),
    "fr": Phrases(
        found="Votre bibliothèque dit sur {0} :",
        differ="Ces passages vont dans des sens différents ; je les cite tous et ne tranche pas.",
        looked="{0} références consultées sur {1} trouvées.",
        nothing="Je n’ai rien trouvé dans votre bibliothèque sur {0}.",
        tried="Recherches : {0}.",
        advice="Essayez d’autres mots, moins de mots, ou la langue des sources.",
        unread="Aucun passage sur {0} n’a pu être cité.",
        gone="Le PDF n’est pas sur cet ordinateur : {0}. Ouvrez-le dans Zotero, qui le téléchargera.",
        matching="Références dont le titre, le résumé ou les marqueurs correspondent :",
        newest="Votre bibliothèque contient {0} références ; les plus récentes sont :",
        no_library=(
            "Aucune bibliothèque Zotero n’est encore utilisée : choisissez-en une sur la première page ou "
            "dans les réglages, puis reposez la question."
        ),
        unreadable="« {0} » ne peut pas être lu ici : {1}",
        reads_pdfs="il n’y a pas de PDF, et je ne lis que les PDF.",
        no_search="Je ne peux pas chercher : la fenêtre de ce modèle ne laisse pas de place aux outils.",
        help=(
            "Posez une question sur un sujet de votre bibliothèque Zotero, par exemple « Quel est l’effet du "
            "sommeil sur la mémoire ? », ou nommez une référence. Je cherche, lis les meilleures pages et "
            "les cite."
        ),
        self="Assistant intégré : je trouve et cite des passages ; je ne raisonne pas.",
        related="Aucune phrase n’emploie les mots {0}. Les pages les plus proches disent :",
        work="Voici ce que dit le travail lui-même :",
    ),
}
