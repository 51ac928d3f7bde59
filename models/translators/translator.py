"""The interface of machine translators: texts in, translations out, and a sentence that shows a changed translator."""

import hashlib
import json
import re
from abc import ABC, abstractmethod
from collections.abc import Sequence
from typing import Final

from models.translators.settings import TranslatorSettings
from schemas.errors import DataError
from schemas.wording import printable

_PROBES: Final = """
ar ألقى البركان القديم حمما، وهرب سكان القريتين إلى البحر.
bg Старият вулкан изхвърли лава и хората от двете села избягаха към морето.
ca El vell volcà va llançar lava, i la gent dels dos pobles va fugir cap al mar.
cs Stará sopka chrlila lávu a lidé z obou vesnic utekli k moři.
cy Taflodd yr hen losgfynydd lafa, a ffodd pobl y ddau bentref i'r môr.
da Den gamle vulkan slyngede lava ud, og folk fra begge landsbyer flygtede til havet.
de Der alte Vulkan spuckte Lava, und die Menschen aus beiden Dörfern flohen ans Meer.
el Το παλιό ηφαίστειο έβγαλε λάβα και οι άνθρωποι των δύο χωριών έφυγαν προς τη θάλασσα.
en The old volcano threw out lava, and the people of both villages fled to the sea.
es El viejo volcán arrojó lava, y la gente de los dos pueblos huyó hacia el mar.
eu Sumendi zaharrak laba bota zuen, eta bi herrietako jendeak itsasora ihes egin zuen.
fa آتشفشان پیر گدازه بیرون ریخت و مردم هر دو روستا به سوی دریا گریختند.
fi Vanha tulivuori syöksi laavaa, ja molempien kylien väki pakeni merelle.
fr Le vieux volcan cracha de la lave, et les gens des deux villages s'enfuirent vers la mer.
gl O vello volcán botou lava, e a xente das dúas aldeas fuxiu cara ao mar.
he הר הגעש הישן פלט לבה, ואנשי שני הכפרים ברחו אל הים.
hi पुराने ज्वालामुखी ने लावा उगला, और दोनों गाँवों के लोग समुद्र की ओर भाग गए।
hu A régi vulkán lávát szórt, és a két falu népe a tengerhez menekült.
id Gunung api tua itu menyemburkan lava, dan penduduk kedua desa lari ke laut.
it Il vecchio vulcano gettò lava, e la gente dei due villaggi fuggì verso il mare.
ja 古い火山が溶岩を噴き出し、二つの村の人々は海へ逃げた。
ko 오래된 화산이 용암을 뿜어내자 두 마을 사람들은 바다로 달아났다.
nb Den gamle vulkanen spydde ut lava, og folk fra begge landsbyene flyktet til havet.
nl De oude vulkaan spuwde lava, en de mensen van beide dorpen vluchtten naar de zee.
pl Stary wulkan wyrzucił lawę, a ludzie z obu wsi uciekli nad morze.
pt O velho vulcão lançou lava, e as pessoas das duas aldeias fugiram para o mar.
ro Vechiul vulcan a aruncat lavă, iar oamenii din cele două sate au fugit spre mare.
ru Старый вулкан выбросил лаву, и люди обеих деревень бежали к морю.
sv Den gamla vulkanen sprutade lava, och folket i båda byarna flydde till havet.
sw Volkano ya zamani ilitoa lava, na watu wa vijiji viwili walikimbilia baharini.
th ภูเขาไฟเก่าพ่นลาวาออกมา และชาวบ้านทั้งสองหมู่บ้านหนีไปที่ทะเล
tl Nagbuga ng lava ang lumang bulkan, at tumakas patungo sa dagat ang mga tao ng dalawang nayon.
tr Eski yanardağ lav püskürttü ve iki köyün halkı denize kaçtı.
uk Старий вулкан викинув лаву, і люди обох сіл утекли до моря.
vi Ngọn núi lửa già phun dung nham, và người dân hai làng chạy ra biển.
zh 古老的火山喷出熔岩，两个村庄的人们逃向大海。
"""
"""The sentence of the probe in several languages. Never change it: stores and configurations hold its translations."""
_SENTENCES: Final = dict(line.split(" ", 1) for line in _PROBES.strip().split("\n"))
_SHOWN: Final = 200
"""Number of characters of a translation that an error shows."""


def probe_of(language: str) -> str:
    """Returns the sentence by which a translator from a language is recognised.

    Languages without a sentence have all sentences; at least proper names and signs differ between translators.
    """
    return _SENTENCES.get(language, " ".join(_SENTENCES.values()))


class Translator(ABC):
    """Translates texts, each independently of the others.

    Args:
      settings: the settings of the translator's kind.
      source, target: ISO 639-1 codes.
    """

    def __init__(self, settings: TranslatorSettings, source: str, target: str) -> None:
        self._settings, self._source, self._target = settings, source, target

    @property
    @abstractmethod
    def name(self) -> str:
        """The translator in words, the subject of a sentence."""

    @abstractmethod
    def _translate(self, texts: Sequence[str]) -> list[str]:
        """Returns the raw translation of each text."""

    def probe(self) -> str:
        """Returns the translation of the probe.

        Raises:
          DataError: see `translate`; or two equal texts have different translations.
        """
        text = probe_of(self._source)
        translations = [_on_one_line(translation) for translation in self._translate([text, text])]
        if len({*translations}) != 1 or not translations[0]:
            shown = " and ".join(repr(printable(translation, _SHOWN)) for translation in translations)
            raise DataError(
                f"{self.name} must translate equal texts equally, and not to empty texts; got {shown} for "
                f"{printable(text, _SHOWN)!r} twice. docs/translation.md says what a translator must keep."
            )
        return translations[0]

    def translate(self, texts: Sequence[str]) -> list[str]:
        """Translates texts between two probes, which must have the translation in the settings.

        Args:
          texts: texts without line ends, not empty.

        Returns:
          the translations, without line ends; "" for a text without a translation.

        Raises:
          DataError: the translator fails, gives more or fewer translations than texts, or has changed.
        """
        probe, expected = probe_of(self._source), self._settings.probe
        first, *translations, last = map(_on_one_line, self._translate([probe, *texts, probe]))
        for got in (first, last):
            if got != expected:
                raise DataError(
                    f"{self.name} has changed, or mixes texts up: it translated {printable(probe, _SHOWN)!r} to "
                    f"{printable(got, _SHOWN)!r} instead of {printable(str(expected), _SHOWN)!r}. Run again to "
                    "translate all texts again."
                )
        return translations


def _on_one_line(text: str) -> str:
    """Removes NUL and halves of surrogate pairs, and replaces tabs and line ends by spaces.

    Example:
      >>> _on_one_line(" the\\tred \\ud800wolf\\n")
      'the red wolf'
    """
    return " ".join(re.sub("[\0\ud800-\udfff]", "", text).split())


def load_translator(settings: TranslatorSettings, languages: tuple[str, str]) -> Translator:
    """Makes a translator.

    Args:
      settings: the translator's settings.
      languages: ISO 639-1 codes of the translations and of the texts.

    Raises:
      DataError: the translator cannot be used.
    """
    target, source = languages
    translator: Translator = settings.load()(settings, source, target)
    return translator


def with_probe(settings: TranslatorSettings, languages: tuple[str, str]) -> TranslatorSettings:
    """Asks the translator for the probe's translation, and returns the settings with it."""
    return settings.model_copy(update={"probe": load_translator(settings, languages).probe()})


def translator_digest(settings: TranslatorSettings, languages: tuple[str, str]) -> str:
    """Returns SHA-256 of all that affects the translations.

    Args:
      settings: the settings with the probe.
      languages: ISO 639-1 codes of the translations and of the texts.
    """
    own = settings.model_dump(mode="json", include={"kind", "command", "address", "probe"})
    # Both kinds have the same keys, as in earlier versions, so that translations in a store keep their digest.
    parts = {"command": None, "address": None, **own, "languages": languages}
    return hashlib.sha256(json.dumps(parts, sort_keys=True).encode()).hexdigest()
