"""The names of the file namespace, and of files.

Sources: for the names `NS_FILE` and its aliases in MediaWiki's `languages/messages`; for the extensions
https://commons.wikimedia.org/wiki/Commons:File_types.
"""

import re
from collections.abc import Mapping
from typing import Final

_FILE: Final = re.compile(
    r"\.(?:jpe?g|png|gif|svg|tiff?|webp|xcf|pdf|djvu|og[gavx]|opus|mp[34]|wav|flac|midi?|web[mp]|mpe?g|stl)\s*",
    re.IGNORECASE,
)


def is_file(title: str) -> bool:
    """Returns whether a title has the extension of a file.

    Example:
      >>> is_file("Pilt:Oru vaade.JPG"), is_file("Star Trek: Picard")
      (True, False)
    """
    at = title.rfind(".")
    return at > 0 and _FILE.fullmatch(title, at) is not None


EVERYWHERE: Final = "file|image|media"

LANGUAGE_NAMES: Final[Mapping[str, str]] = {
    "af": "lêer|beeld",
    "ar": "ملف|صورة",
    "az": "şəkil|fayl",
    "be": "файл|выява",
    "bg": "файл|картинка",
    "bn": "চিত্র",
    "br": "restr|skeudenn",
    "bs": "datoteka|slika",
    "ca": "fitxer|imatge",
    "cs": "soubor",
    "cy": "delwedd",
    "da": "fil|billede",
    "de": "datei|bild",
    "el": "αρχείο|εικόνα",
    "eo": "dosiero",
    "es": "archivo|imagen",
    "et": "pilt|fail",
    "eu": "fitxategi|irudi",
    "fa": "پرونده|تصویر",
    "fi": "tiedosto|kuva",
    "fo": "mynd",
    "fr": "fichier",
    "ga": "íomhá",
    "gl": "ficheiro|imaxe",
    "he": "קובץ|תמונה",
    "hi": "चित्र",
    "hr": "datoteka|slika",
    "hu": "fájl|kép",
    "hy": "պատկեր",
    "id": "berkas|gambar",
    "is": "mynd",
    "it": "immagine",
    "ja": "ファイル|画像",
    "ka": "ფაილი|სურათი",
    "ko": "파일|그림",
    "la": "fasciculus|imago",
    "lb": "fichier|bild",
    "lt": "vaizdas",
    "lv": "attēls",
    "mk": "податотека|слика",
    "ml": "പ്രമാണം|ചിത്രം",
    "mr": "चित्र",
    "ms": "fail|imej",
    "nl": "bestand|afbeelding",
    "nn": "fil|bilde",
    "no": "fil|bilde",
    "oc": "fichièr|imatge",
    "pl": "plik|grafika",
    "pt": "ficheiro|imagem|arquivo",
    "ro": "fișier|fişier|imagine",
    "ru": "файл|изображение",
    "sh": "datoteka|slika",
    "sk": "súbor|obrázok",
    "sl": "slika",
    "sq": "skeda|figura",
    "sr": "датотека|слика|slika",
    "sv": "fil|bild",
    "sw": "picha|faili",
    "ta": "படிமம்",
    "te": "దస్త్రం|బొమ్మ",
    "th": "ไฟล์|ภาพ",
    "tl": "talaksan|larawan",
    "tr": "dosya|resim",
    "uk": "файл|зображення",
    "uz": "fayl|tasvir",
    "vi": "tập tin|hình",
    "zh": "文件|图像|圖像|檔案|档案",
}
"""The names of the namespace besides that in the dump's header, for files without an extension."""
