"""Settings of the evaluation and of search. Importing this file does not import TensorFlow."""

from typing import Annotated, Final, Literal

from pydantic import AfterValidator, Field, ValidationInfo, field_validator

from models.choices import RIVALS
from models.evaluation.metrics import MetricName, metric_key, with_metrics
from models.translators.settings import TranslatorSettings
from schemas.columns import field_name
from schemas.settings import OneOf, Settings
from smooth_clir.retrieval.milvus_settings import MilvusSettings

BASELINES: Final = ("bm25", "paper", *RIVALS)
"""The systems that may be evaluated beside the model."""


class EvaluationSettings(Settings):
    """The evaluation of a model, and the conditions for its push."""

    baselines: tuple[Annotated[str, AfterValidator(OneOf(BASELINES))], ...] = ("bm25",)
    """Systems that are evaluated on the same lists as the model. bm25 is BM25 without translation; paper is the paper's
    own system (preset `paper`, without word vectors), trained on the same data. The eval split chooses the parameters
    of the others. Those of Bai et al. 2009 are tfidf; translated, by the lexicon; query_expansion, the same with
    expanded queries; lsi and cl_lsi, alone or mixed with tf-idf; perceptron, with a weight for each pair of words; and
    hash_kernel, with hashed pairs. Further ones are structured_queries, the lexicon alone; cl_lsi_lexicon, cl_lsi with
    the lexicon; bm25_stems, BM25 with equal stems; translated_bm25, BM25 of queries that `query_translator` translates;
    and translated_rm3, the same, expanded by a relevance model of each list's best documents (RM3)."""
    query_translator: TranslatorSettings | None = None
    """The machine translator of queries into the document language, for translated_bm25 and translated_rm3; null:
    none."""
    minimums: dict[str, Annotated[float, Field(strict=True)]] | None = None
    """Smallest allowed value of each named metric on the test split; null: all metrics must be above those of random
    order."""
    metrics: tuple[MetricName, ...] = ()
    """Further metrics of the test split, besides those that are always reported, each with its own cutoff, such as
    ndcg@20. Names of ir_measures, such as nDCG@20, are accepted, too."""
    compared_metric: MetricName = "ndcg_5"
    """The metric that must not be significantly worse than the last pushed model's, on the same test lists."""
    significance: Annotated[float, Field(gt=0, lt=1)] = 0.05
    """A model is significantly worse if the paired test's p-value is below this."""
    start_anew: bool = False
    """Push without comparing with the last pushed model."""

    @property
    def reported(self) -> list[str]:
        """The keys of all metrics of the test split."""
        return with_metrics(*self.metrics, self.compared_metric, *(self.minimums or ()))

    @field_validator("baselines")
    @classmethod
    def _baselines_differ(cls, baselines: tuple[str, ...]) -> tuple[str, ...]:
        if len({*baselines}) < len(baselines):
            raise ValueError(f"must name a baseline once; got {', '.join(baselines)}")
        return baselines

    @field_validator("minimums")
    @classmethod
    def _metrics_are_known(cls, minimums: dict[str, float] | None) -> dict[str, float] | None:
        if minimums is None:
            return None
        named = [(metric_key(name), value) for name, value in minimums.items()]
        if len(dict(named)) < len(named):
            raise ValueError(f"must name a metric once; got {', '.join(minimums)}")
        for key, value in named:
            if not 0 <= value <= 1:
                raise ValueError(f"{key} must lie in [0, 1]; got {value}")
        return dict(named)


class SearchSettings(Settings):
    """Whether a run makes its collection searchable."""

    index: bool = False
    """Encodes every document with the trained model, makes an index for `clir search` and `clir serve` under the
    output, and also evaluates the test queries on the whole collection."""
    fields: tuple[Annotated[str, AfterValidator(field_name)], ...] = ()
    """Further columns of the documents, such as lang and year, by which a search can be filtered (`clir search
    --where`). A header must name them, or the keys of JSON objects."""
    engine: Literal["local", "milvus"] = "local"
    """Where the index is searched: local, in files of this machine; or milvus, also in a Milvus server that gets each
    pushed version from those files."""
    milvus: MilvusSettings = MilvusSettings()
    """The Milvus server, for `engine: milvus`."""
    example_queries: Annotated[int, Field(ge=0, le=20)] = 4
    """The number of queries of the eval split, without those of held-out domains, that each new version brings for the
    search page of `clir serve`, which offers them to everyone; 0 for none."""

    @field_validator("fields")
    @classmethod
    def _fields_get_an_index(cls, fields: tuple[str, ...], info: ValidationInfo) -> tuple[str, ...]:
        if fields and info.data.get("index") is False:
            raise ValueError(f"must be empty without search.index, which makes the index; got {', '.join(fields)}")
        if len({*fields}) < len(fields):
            raise ValueError(f"must name a field once; got {', '.join(fields)}")
        return fields

    @field_validator("engine")
    @classmethod
    def _engine_gets_an_index(cls, engine: str, info: ValidationInfo) -> str:
        if engine != "local" and info.data.get("index") is False:
            raise ValueError(f"must be local without search.index, which makes the index; got {engine}")
        return engine

    @field_validator("milvus")
    @classmethod
    def _milvus_has_an_address(cls, milvus: MilvusSettings, info: ValidationInfo) -> MilvusSettings:
        engine = info.data.get("engine")
        if engine == "milvus" and milvus.address is None:
            raise ValueError("address must be given for search.engine milvus; got null")
        if engine == "local" and milvus != MilvusSettings():
            raise ValueError("must not be given where search.engine is local")
        return milvus
