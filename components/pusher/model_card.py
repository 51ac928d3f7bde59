"""The card of a pushed model: its data, metrics, training, limits and settings."""

import json
import os
from collections.abc import Mapping, Sequence
from importlib.metadata import version
from typing import Any, Final

import yaml

from models.channels import ChannelsSettings
from models.encoders.settings import EncoderSettings, EndpointSettings
from models.evaluation.metrics import Metric
from models.lexicon.settings import MatchingSettings
from models.rankers.settings import EncoderHeadSettings
from schemas.cut_texts import CutReport
from schemas.evaluation import EvaluationReport, PartReport
from schemas.languages import codes_of, language_name
from schemas.training_history import TrainingHistory
from schemas.wording import printable

_MAX_CHARACTERS: Final = 200
"""Characters shown of a user's name."""
_NEEDED: Final = ("tensorflow", "tensorflow-text")
_GATE: Final = "The gate: "


def model_card(
    settings: Mapping[str, Any],
    data: Mapping[str, Any],
    cut: CutReport | None,
    history: TrainingHistory,
    report: EvaluationReport,
    reason: str,
) -> str:
    """Returns the card as Markdown.

    Args:
      settings: the run's resolved configuration, its paths reduced to names.
      data: the content of `data/report.json`.
      cut: how much the limit on words cuts from the train and eval lists; None where it was not counted.
      history: the training's history.
      report: the evaluation's report.
      reason: the gate's reason to bless the model.
    """
    data_settings = settings["data"]
    codes = data_settings["query_language"], data_settings["document_language"]
    query, document = map(language_name, codes)
    sections = {
        f"Model card: {document} documents for {query} queries": [
            f"Ranks {document} documents (`{codes[1]}`) for {query} queries (`{codes[0]}`), without translating "
            f"either. Smooth CLIR {version('smooth-clir')} trained it with the preset `{settings['preset']}`; the "
            f"score is {_score(settings, history)}.",
            "To load it, import tensorflow_text first, which brings operations that TensorFlow needs: "
            f"{' and '.join(f'`{name}=={version(name)}`' for name in _NEEDED)} wrote it. Its signatures: `score` (a "
            "query and a list of documents to scores), and where the score is an inner product `encode_query` and "
            "`encode_document`.",
        ],
        "Intended use": [
            f"To find {document} texts of the kind it was trained on for {query} queries of that kind, for people who "
            "look through the first results. Measure it on judged queries of your own before you rely on it. It is not "
            "made for decisions about people, and does not say whether a document is true.",
            "Licence: the code that made it is under the Apache License 2.0. What may be done with the model depends "
            "on its data, and on its encoder where it has one, whose terms a run does not know.",
        ],
        "Data": [*_data(data_settings, data, cut)],
        **({"Encoder": [*_encoder(settings)]} if settings["channels"]["encoder"] else {}),
        "Metrics": [*_metrics(settings, report), f"{_GATE}{reason}."],
        "Training": [
            f"{len(history.history)} epochs over {history.train_pairs:,} query-document pairs; the weights are those "
            f"of epoch {history.best_epoch}, the best on the eval split "
            f"(`{settings['training']['best_metric']}` {history.best_value:.4f}).",
            *([f"Found by a search on the eval split: `{json.dumps(history.searched)}`."] if history.searched else []),
        ],
        "Limits": _list(_limits(settings, report, cut)),
        "Settings": [
            "<details><summary>All settings of the run</summary>",
            f"```yaml\n{yaml.safe_dump(dict(settings), sort_keys=False, allow_unicode=True)}```",
            "</details>",
        ],
    }
    parts = [_front_matter(codes)]
    for title, blocks in sections.items():
        parts += [f"{'##' if len(parts) > 1 else '#'} {title}", *blocks]
    return "\n\n".join(parts) + "\n"


def _front_matter(codes: Sequence[str]) -> str:
    """Returns the head by which model hubs sort a model, between lines of dashes."""
    head = {
        "language": list(dict.fromkeys(code for language in codes for code in codes_of(language))),
        "license": "unknown",
        "library_name": "tensorflow",
        "pipeline_tag": "text-ranking",
        "tags": ["cross-lingual-information-retrieval", "learning-to-rank", "smooth-clir"],
    }
    # `safe_dump` quotes "no", the code of Norwegian, which YAML would read as false.
    return f"---\n{yaml.safe_dump(head, sort_keys=False)}---"


def is_of_same_run(first: str, second: str) -> bool:
    """Returns whether two cards differ at most in the gate's reason: another execution of a run has another reason."""
    without_gate = [[line for line in card.split("\n") if not line.startswith(_GATE)] for card in (first, second)]
    return without_gate[0] == without_gate[1]


def _score(settings: Mapping[str, Any], history: TrainingHistory) -> str:
    """Describes the parts of the score, with the fitted weights and numbers."""
    fitted = {name: f"{number.value:g}" for name, number in history.fitted.items()}
    channels = ChannelsSettings.model_validate(settings["channels"])
    towers, encoder = channels.towers, channels.encoder
    is_head = isinstance(towers, EncoderHeadSettings)
    vectors = f"two vectors, linear maps of those of {_encoder_name(encoder)}" if is_head and encoder else "two vectors"
    parts = [f"the `{towers.channel}` of {vectors}"]
    for name, channel in channels.further.items():
        weight = fitted.get(f"{name}.weight", channel.weight)
        if isinstance(channel, MatchingSettings):
            parts.append(f"{weight} times that of words that match (`{name}`)")
        elif isinstance(channel, EncoderSettings):
            parts.append(f"{weight} times the standardised cosine of the vectors of {_encoder_name(channel)}")
        else:
            own = channel.model_dump(exclude={"kind", "weight", "in_training"})
            numbers = "".join(f", {key} {fitted.get(f'{name}.{key}', value)}" for key, value in own.items())
            parts.append(f"{weight} times the channel `{name}` (`{channel.kind}`{numbers})")
    second_pass = settings["feedback"]
    gain, documents = (fitted.get(f"feedback.{name}", second_pass[name]) for name in ("gain", "documents"))
    if float(gain):
        parts.append(
            f"in a second pass (pseudo-relevance feedback) {gain} times the standard deviation of these scores, times "
            f"the similarity to the best {documents}"
        )
    return " plus ".join(parts)


def _encoder_name(encoder: EncoderSettings) -> str:
    return f"the pre-trained encoder {_code(encoder.shown_name)}"


def _encoder(settings: Mapping[str, Any]) -> Sequence[str]:
    """Describes the pre-trained encoder: its kind, its licence and its digests."""
    encoder = EncoderSettings.model_validate(settings["channels"]["encoder"])
    licence, origin = encoder.licence or "not given: ask its makers", ""
    if encoder.kind == "use_multilingual":
        from models.encoders.use_multilingual import LICENCE, ORIGIN

        licence, origin = LICENCE, f" {ORIGIN}."
    where = {
        "endpoint": "The model does not hold it: it asks the endpoint for each new text.",
        "vectors": "The model does not hold it: its vectors came in files, and new texts have none.",
    }.get(encoder.kind, "The model holds it.")
    digests = {key: value for key, value in encoder.sha256.model_dump().items() if value}
    identity = "".join(f" SHA-256 of {name}: `{value}`." for name, value in digests.items())
    identity += f" Fingerprint: `{list(encoder.probes)}`." if isinstance(encoder, EndpointSettings) else ""
    return [
        f"{_code(encoder.shown_name)}, of the kind `{encoder.kind}`; licence: {printable(licence, _MAX_CHARACTERS)}."
        f"{origin} {where}{identity}"
    ]


def _data(settings: Mapping[str, Any], data: Mapping[str, Any], cut: CutReport | None) -> Sequence[str]:
    rows = [
        (
            _code(settings[role] or os.path.basename(file["path"])),
            role,
            f"{file['used']:,} of {file['read']:,}",
            settings["sha256"][role] or "",
        )
        for role, file in data["files"].items()
    ]
    wikis = settings["wikipedia"]["wikis"] if settings["wikipedia"] else {}
    rows += [
        (_code(name), f"dump of {language}", "", settings["sha256"]["wikipedia"].get(f"wikis.{language}.{key}", ""))
        for language, wiki in wikis.items()
        for key, name in wiki.items()
        if name
    ]
    lists = ", ".join(f"{count:,} {split}" for split, count in data["lists"].items())
    sentences = (side.sentence(noun, cut.limit) for noun, side in cut.sides.items()) if cut else ()
    return (
        _table(("file", "what", "records used", "SHA-256"), rows),
        f"Query lists: {lists}. The owner of the data says under which licence they may be used.",
        *(f"In the train and eval lists, {sentence}." for sentence in sentences),
    )


def _metrics(settings: Mapping[str, Any], report: EvaluationReport) -> Sequence[str]:
    top = settings["data"]["top_grade"]
    sr_grades = f", SR documents grades from 1 to {top - 1}" if top > 1 else ""
    blocks = [
        f"MR documents have grade {top}{sr_grades}, NR documents grade 0. The table also shows the channels of the "
        "score, each alone, and the baselines, on the same lists.",
        _table_of(report, f"{report.split} split, {report.queries:,} queries"),
    ]
    if report.seen and report.cold:
        share = report.seen.queries / max(report.queries, 1)
        blocks.append(
            f"For {share:.0%} of these queries, training has seen the MR document as relevant, with other queries."
        )
        if report.seen.queries and report.cold.queries:
            blocks.append(_table_of(report.seen, f"MR document seen, {report.seen.queries:,} queries"))
            blocks.append(_table_of(report.cold, f"MR document not seen, {report.cold.queries:,} queries"))
    if held_out := settings["data"]["held_out"]:
        names = ", ".join(map(_code, held_out))
        blocks.append(f"These queries are of {names}: training has seen no judgment of these domains.")
    if report.domains:
        blocks.append(_table_of_parts("domain", report, report.domains))
    if report.query_languages:
        blocks.append(_table_of_parts("query language", report, report.query_languages))
    if report.languages:
        blocks += [
            "By the language of the MR document, with the language's share of the relevant documents of all queries, "
            "and of as many first documents:",
            _table_of_parts("language", report, report.languages, ("relevant_share", "first_share")),
        ]
    return blocks


def _table_of_parts(
    title: str, report: EvaluationReport, parts: Mapping[str, PartReport], shares: Sequence[str] = ()
) -> str:
    """Returns a table with a row for each part of the queries."""
    rows = []
    for name, part in parts.items():
        metrics = (f"{part.metrics[key]:.4f}" if part.queries else "-" for key in report.metrics)
        part_shares = (f"{getattr(part, share):.1%}" for share in shares)
        rows.append((_code(name), f"{part.queries:,}", *metrics, *part_shares))
    return _table((title, "queries", *map(_code, report.metrics), *map(_code, shares)), rows)


def _table_of(part: EvaluationReport | PartReport, title: str) -> str:
    columns = {"model": part.metrics, **part.channels, **part.baselines, "a perfect order": part.reachable}
    rows = [(_code(key), *(f"{values[key]:.4f}" for values in columns.values())) for key in part.metrics]
    meanings = _list(f"{_code(key)}: {Metric.parse(key).definition}" for key in part.metrics)
    table = _table((title, *columns), rows)
    return "\n\n".join([table, *meanings]) if isinstance(part, EvaluationReport) else table


def _limits(settings: Mapping[str, Any], report: EvaluationReport, cut: CutReport | None) -> Sequence[str]:
    part = "passage" if settings["data"]["passages"] else "document"
    limits = [
        f"Only the first {settings['data']['max_document_tokens']:,} words of a query or a {part} count.",
        *(
            f"More than a tenth of the {noun}' words is cut off: raise `data.max_document_tokens`, and train again."
            for noun, side in (cut.sides.items() if cut else ())
            if side.is_much
        ),
        "A word that the training data lack has no vector.",
        "A score orders the documents of a query. It is not a probability, and cannot be compared between queries.",
        "What the training data prefer, leave out or get wrong, the model does, too.",
    ]
    if report.nearly_all_seen:
        limits.append(
            "Training has seen the documents of nearly all test queries: how it ranks new ones was not measured."
        )
    if settings["preset"] == "closed":
        limits.append("It has learned which documents are relevant at all: documents that are new to it rank too low.")
    return limits


def _table(head: Sequence[str], rows: Sequence[Sequence[str]]) -> str:
    lines = [head, ["---"] * len(head), *rows]
    return "\n".join(f"| {' | '.join(line)} |" for line in lines)


def _list(items: Any) -> list[str]:
    return ["\n".join(f"- {item}" for item in items)]


def _code(text: str) -> str:
    """Formats a user's name as code within a table: it can end neither the cell nor the code."""
    return f"`{printable(text, _MAX_CHARACTERS).replace('`', chr(39)).replace('|', chr(166))}`"
