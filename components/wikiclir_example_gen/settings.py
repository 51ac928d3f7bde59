"""Settings of the data. Importing this file does not import TensorFlow or Beam."""

from collections.abc import Mapping
from typing import Annotated, Any, Final, Literal, TypeAlias

from pydantic import (
    AfterValidator,
    BeforeValidator,
    Field,
    ValidationInfo,
    WithJsonSchema,
    field_validator,
    model_validator,
)

from schemas.languages import are_several, codes_of, joined_codes, language_fault
from schemas.passages import PassageSettings
from schemas.relevance import MAX_GRADE
from schemas.settings import InputPath, Settings
from schemas.word_rules import WordRules

_TEXTS: Final = ("queries", "documents", "judgments")


def _joined(language: Any) -> Any:
    """The codes of a list, joined; any other value as it is."""
    if isinstance(language, list) and language:
        if not all(isinstance(code, str) for code in language):
            raise ValueError(f'must be a list of ISO 639-1 codes; got {language}; write "no" in quotes')
        return joined_codes(language)
    return language


def _known(language: str) -> str:
    if fault := language_fault(language):
        raise ValueError(fault)
    return joined_codes(codes_of(language))


LanguageCodes: TypeAlias = Annotated[
    str,
    BeforeValidator(_joined),
    AfterValidator(_known),
    WithJsonSchema({"anyOf": [{"type": "string"}, {"type": "array", "items": {"type": "string"}}]}),
]
"""The code of a language, or those of several; see `schemas.languages`."""


class InputDigests(Settings):
    """SHA-256 of the input files, in hexadecimal; for several files, the digest of their digests, a line each. A
    resolved configuration holds them, and a rerun checks them."""

    queries: str | None = None
    """Digest of `data.queries`."""
    documents: str | None = None
    """Digest of `data.documents`."""
    judgments: str | None = None
    """Digest of `data.judgments`."""
    candidates: str | None = None
    """Digest of `data.candidates`."""
    domains: str | None = None
    """Digest of `data.domains`."""
    wikipedia: dict[str, str] = {}
    """Digests of the dumps of `data.wikipedia`, by their keys there."""


class DataSettings(Settings):
    """The collection, as files in any form of docs/formats.md, plain or packed."""

    queries: Annotated[str | None, Field(min_length=1), InputPath("collection")]
    """Path of the queries (query_id, title, text): of one file, or a pattern (`*`, `?`, `[…]`) of several."""
    documents: Annotated[str | None, Field(min_length=1), InputPath("collection")]
    """Path of the documents, likewise: doc_id, title, text."""
    judgments: Annotated[str | None, Field(min_length=1), InputPath("collection")]
    """Path of the judgments, likewise: query_id, doc_id, grade."""
    top_grade: Annotated[int, Field(ge=1, le=MAX_GRADE)] = 2
    """The grade of MR documents; grades are 0 .. top_grade. A loss may weigh a grade by 2^grade, in float32."""
    candidates: Annotated[str | None, InputPath("collection")] = None
    """Path of fixed lists, likewise: query_id, doc_id, grade, split. Null samples NR documents, and hashes the
    splits."""
    domains: Annotated[str | None, Field(min_length=1), InputPath("collection")] = None
    """Path of the domains of the queries, likewise: query_id, domain. Domains are, for example, joined collections or
    topics; null: one domain. `metrics.json` has a part for each, and documents of another domain do not count in
    `loss.in_batch` and in the softmax term."""
    wikipedia: Settings | None = None
    """The dumps from which to make queries, documents and judgments. With dumps these three, `candidates` and `domains`
    must be null."""
    held_out: tuple[str, ...] = ()
    """Names of domains that vocabularies, lexicon, training, the choice of the best epoch and fitted numbers do not
    use. Only their test lists are evaluated. Changing them does not rerun the stages before Transform."""
    negatives: Annotated[int, Field(ge=1, lt=2**31)] = 40
    """Number of NR documents sampled for a query; unused with `candidates`."""
    test_negatives: Annotated[int | None, Field(ge=1, lt=2**31)] = None
    """Number of NR documents sampled for a query of the test split, such as 10,000; null: as many as `negatives`. Must
    be null with `candidates`."""
    most_sampled: Annotated[int, Field(ge=1, lt=2**31)] = 4_000_000
    """Largest number of documents from which NR documents are drawn: of a larger collection the documents with the
    least seeded hashes of their ids. Every worker of a Beam runner holds their ids."""
    used_negatives: Annotated[int | None, Field(ge=1, lt=2**31)] = None
    """Number of NR documents used of every list, in all splits: the first ones, in the order of the draw or of
    `candidates`; null uses all. Changing this number does not rerun any data stage."""
    leave_out_own: bool = False
    """Whether a document with the id of a query is left out of this query's list, and of its results where a search is
    evaluated: in collections such as ArguAna the queries are documents themselves."""
    query_words: Annotated[int | None, Field(ge=1, lt=2**31)] = None
    """Number of words of a keyword query: each longer query becomes as many of its words, drawn at random and in their
    order, in all splits; null: queries are whole. Titles stay."""
    seed: Annotated[int, Field(ge=0, lt=2**31)] = 1
    """Seed of the NR documents of every query, of the words of keyword queries, and of the choice of cold groups."""
    split: Literal["queries", "documents"] = "queries"
    """Divides either queries among the splits, as in the paper: training may have seen a test query's documents with
    other queries. Or documents, in groups: the documents that are relevant to one query stay together, and a query goes
    to the split of its MR document. Must be queries with `candidates`, which name the splits."""
    cold_share: Annotated[float, Field(ge=0, le=0.9)] = 0.0
    """Share of the groups left out of the train and eval splits: test queries on them are evaluated as cold."""
    max_queries: Annotated[int | None, Field(ge=1, lt=2**31)] = None
    """Number of judged queries used, the first ones of the file (the paper takes 25,000); null uses all."""
    shards: Annotated[int | None, Field(ge=1, le=100_000)] = None
    """Number of files of lists in each split; null: the Beam runner decides; in process it makes one."""
    query_language: LanguageCodes
    """ISO 639-1 code of the queries' language; of several languages a list, or the codes with a plus: each query then
    has a column `lang`."""
    document_language: LanguageCodes
    """ISO 639-1 code of the documents' language; of several languages a list, or the codes with a plus, `de+es`: each
    document then has a column `lang`."""
    max_document_tokens: Annotated[int, Field(ge=1, lt=2**31)] = 200
    """Number of words that count of a document, and of a query; the rest is cut off. In scripts without spaces
    two Han characters count as one word, and so do two pairs of kana and three pairs of Thai, Lao, Khmer or Burmese."""
    passages: PassageSettings | None = None
    """The passages into which documents are split: they are trained on, indexed and searched for, and a document has
    the score of its best passage. Null: documents are whole, and cut off at `max_document_tokens`."""
    segmented: bool = False
    """Whether the words of queries and documents are separated already: white space alone then parts words, in every
    script, so that text in Thai or Chinese has the words of a segmenter of your choice. New queries must be segmented
    as well. A word then counts as one, in every script."""
    max_bad_share: Annotated[float, Field(ge=0, le=1)] = 0.05
    """Largest share of bad lines in a file; a run stops beyond it."""
    sha256: InputDigests = InputDigests()
    """Digests that the input files must have; every run fills them in in its resolved configuration."""

    @property
    def languages(self) -> tuple[str, str]:
        """ISO 639-1 codes of queries and documents."""
        return self.query_language, self.document_language

    @property
    def languages_by_role(self) -> dict[str, list[str]]:
        """The codes of the languages of queries and of documents, where these are several."""
        roles = {"queries": self.query_language, "documents": self.document_language}
        return {role: [*codes_of(language)] for role, language in roles.items() if are_several(language)}

    @property
    def word_rules(self) -> WordRules:
        """The rules by which texts are parted into words, and the limit on their number."""
        return WordRules(max_tokens=self.max_document_tokens, segmented=self.segmented)

    @model_validator(mode="before")
    @classmethod
    def _fill_missing_texts(cls, content: Any) -> Any:
        """Treats null queries, documents and judgments as missing; with dumps, missing ones as null."""
        if not isinstance(content, Mapping):
            return content
        if content.get("wikipedia") is None:
            return {key: value for key, value in content.items() if key not in _TEXTS or value is not None}
        return dict.fromkeys(_TEXTS) | dict(content)

    @field_validator("wikipedia")
    @classmethod
    def _dumps_replace_files(cls, wikipedia: Settings | None, info: ValidationInfo) -> Settings | None:
        named = [key for key in (*_TEXTS, "candidates", "domains") if info.data.get(key) is not None]
        if wikipedia is not None and named:
            raise ValueError(f"must be null with {', '.join(named)}, because dumps replace these files")
        if wikipedia is not None and info.data.get("top_grade", 2) != 2:
            raise ValueError(
                f"must be null with top_grade {info.data['top_grade']}, because dumps give the grades 0, 1 and 2"
            )
        return wikipedia

    @field_validator("held_out")
    @classmethod
    def _held_out_domains_are_named(cls, held_out: tuple[str, ...], info: ValidationInfo) -> tuple[str, ...]:
        if held_out and "domains" in info.data and not info.data["domains"]:
            raise ValueError(f"must be empty without data.domains, which name them; got {', '.join(held_out)}")
        if len({*held_out}) < len(held_out):
            raise ValueError(f"must name a domain once; got {', '.join(held_out)}")
        return held_out

    @field_validator("query_language", "document_language")
    @classmethod
    def _dumps_have_single_languages(cls, language: str, info: ValidationInfo) -> str:
        if are_several(language) and info.data.get("wikipedia"):
            raise ValueError(f"must be a single language with data.wikipedia; got {language}")
        return language

    @field_validator("passages")
    @classmethod
    def _passages_are_read_whole(cls, passages: PassageSettings | None, info: ValidationInfo) -> PassageSettings | None:
        limit = info.data.get("max_document_tokens")
        if passages and limit and passages.words > limit:
            raise ValueError(f"must have no more words than max_document_tokens ({limit}); got {passages.words}")
        return passages

    @field_validator("test_negatives")
    @classmethod
    def _candidates_are_not_sampled(cls, negatives: int | None, info: ValidationInfo) -> int | None:
        if negatives is not None and info.data.get("candidates"):
            raise ValueError(f"must be null with data.candidates, which name all documents; got {negatives}")
        return negatives

    @field_validator("split")
    @classmethod
    def _candidates_name_the_splits(cls, split: str, info: ValidationInfo) -> str:
        if split != "queries" and info.data.get("candidates"):
            raise ValueError(f"must be queries with data.candidates, which name the splits; got {split!r}")
        return split

    @model_validator(mode="after")
    def _files_are_distinct(self) -> "DataSettings":
        settings = (self.queries, self.documents, self.judgments, self.candidates, self.domains)
        paths = [path for path in settings if path]
        if len(set(paths)) < len(paths):
            raise ValueError(
                f"queries, documents, judgments, candidates and domains must be different files; got {paths}"
            )
        return self
