"""Why pages and articles of a wiki are left out."""

from schemas.drops import DropReason


class ArticleReason(DropReason):
    """Why an article is no document, or has no query; the first that holds counts."""

    DISAMBIGUATION = ("disambiguation page (drop_disambiguations)", False)
    LIST = ("list (drop_lists)", False)
    NO_LANGUAGE_LINK = ("no link to the other language", False)
    LOST_LANGUAGE_LINK = ("the page that it links to in the other language is not in the dump", False)
    NO_MUTUAL_LINK = ("no page that it links to links back", False)
    SHORT_DOCUMENT = ("text shorter than min_document_words", False)
    MR_LEFT_OUT = ("its MR document is left out", False)
    NOT_DRAWN = ("not among those drawn (max_query_pages)", False)
    NO_LEAD = ("no sentence above the first heading", False)
    SHORT_QUERY = ("queries shorter than min_query_words without the title's words", False)
