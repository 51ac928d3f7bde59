"""Our own rules for settings: what is refused and shown, and the nearest settings that are taken.

Bounds, types and unknown keys are in `test_every_setting.py`.
"""

from pathlib import Path

import pytest

from pipeline.config_file import load_config
from schemas.errors import ConfigError
from tests.bad_input.collection import DOCUMENTS, QUERIES, write_collection, write_vectors

DOMAINS = "data.domains=domains.tsv"
DUMPS = "data.queries=null data.documents=null data.judgments=null data.wikipedia"
LINKS = '"en":{"pages":"en.xml","language_links":"en.sql"}'
FR = '"fr":{"pages":"fr.xml"}'
WIKIS = f'{DUMPS}={{"wikis":{{{LINKS},{FR}}}}}'
ENDPOINT = "channels.encoder.kind=endpoint channels.encoder.query_model=m channels.encoder.address=http://localhost"
TRANSLATOR = "channels.lexicon.translator.kind=endpoint channels.lexicon.translator.address=http://localhost"
SAVED_MODEL = "channels.encoder.kind=saved_model channels.encoder.path=model"
VECTORS = "channels.encoder.kind=vectors channels.encoder.query_vectors=q.npy channels.encoder.document_vectors=d.npy"
TABLES = "embeddings.query=64.vec embeddings.document=64.vec"
LSI = "channels.lsi.kind=cl_lsi"
MILVUS = "search.index=true search.engine=milvus search.milvus.address=milvus://host/name"
PORTABLE = (
    "beam.runner=portable beam.endpoint=localhost:8099 beam.environment=external beam.environment_config=localhost:1"
)
DATAFLOW = (
    "beam.runner=dataflow beam.project=a-project beam.region=europe-west1 beam.temp_location=gs://bucket/temp "
    "beam.image=docker.example/worker:1"
)
SECRET = "sk-Secret/0123456789"
POD = "kubeflow.resources.Trainer"

# Refused settings; the key at fault; what is shown, apart by …; and the nearest settings that are taken.
# fmt: off
RULES = [
    # Choices by name
    ("preset=besst", "preset", "paper, best, closed, … 'besst' … best?", "preset=paper"),
    *((f"{section}={bad}", f"{section}.kind", f"{shown} … '{bad}'", good) for section, bad, shown, good in (
        ("channels.towers", "cosim", "two_towers, … cossim?", "channels.towers=cossim"),
        ("channels.towers.encoder", "cnnn", "mean, cnn, … cnn?", "channels.towers.encoder=cnn"),
        ("channels.lexicon", "bm52", "lexicon, bm25, … bm25?", "channels.lexicon=bm25"),
        ("channels.lexicon", "none", "lexicon, bm25, tfidf; got", "channels.lexicon=null"),
        ("channels.encoder", "bert", "saved_model, … vectors; got", "channels.encoder=null"),
        ("channels.lsi", "lsi", "cl_lsi; got 'lsi' … cl_lsi?", "channels.lsi=cl_lsi"),
        ("loss", "hinge", "sosl, … worst_hinge?", "loss=worst_hinge"),
        ("training.objective", "drwn", "lists, … drawn?", "preset=cossim training.objective=drawn"),
        ("evaluation.query_translator", "endpont", "command, … endpoint?", "evaluation.query_translator=null"),
    )),
    ("channels.lexicon.kind=bm52", "channels.lexicon.kind", "bm25?", "channels.lexicon.kind=bm25"),
    ("beam.runner=flink", "beam.runner", "in_process, portable, dataflow; got 'flink'", "beam.runner=in_process"),
    ("channels.towers.similarity=cosin", "channels.towers.similarity", "'dot' … 'cosin' … cosine?",
     "channels.towers.similarity=cosine"),
    ("training.best_metric=NDCG@7", "training.best_metric", "p_mr@K, … 'NDCG@7' … ndcg_5?",
     "training.best_metric=nDCG@7"),
    ("evaluation.compared_metric=mapp", "evaluation.compared_metric", "p_mr@K, … 'mapp' … map?",
     "evaluation.compared_metric=AP"),
    ("evaluation.baselines=[papr]", "evaluation.baselines.0", "bm25, … 'papr' … paper?",
     "evaluation.baselines=[paper]"),
    ("data.query_language=eng", "data.query_language", "'eng' … en?", "data.query_language=ar"),
    ("data.document_language=pt-BR", "data.document_language", "'pt-BR' … pt?", "data.document_language=pt"),
    ("kubeflow.resources.Trainr.cpu=1", "kubeflow.resources.Trainr", "Trainer, … 'Trainr' … Trainer?", f"{POD}.cpu=1"),

    # The settings of a kind
    *((f"{kind} {setting}", setting.partition("=")[0], f"of the {shown}, and {section} is of another", good)
      for section, kind, setting, shown, good in (
        ("channels.towers", "channels.towers=cossim", "channels.towers.similarity=dot",
         "kinds two_towers and encoder_head", "channels.towers.similarity=dot"),
        ("channels.towers", "channels.towers=duet_distributed", "channels.towers.encoder=cnn", "kind two_towers",
         "channels.towers.encoder=cnn"),
        ("channels.towers.encoder", "channels.towers.encoder=cnn", "channels.towers.encoder.pooling=idf", "kind mean",
         "channels.towers.encoder.pooling=idf"),
        ("channels.lexicon", "channels.lexicon=bm25", "channels.lexicon.pairs=pairs.tsv", "kind lexicon",
         "channels.lexicon.pairs=pairs.tsv"),
        ("channels.encoder", ENDPOINT, "channels.encoder.signature=texts", "kind saved_model",
         f"{SAVED_MODEL} channels.encoder.signature=texts"),
        ("channels.encoder", VECTORS, "channels.encoder.query_prefix=q",
         "kinds saved_model, use_multilingual and endpoint", f"{ENDPOINT} channels.encoder.query_prefix=q"),
        ("channels.lexicon.translator", TRANSLATOR, "channels.lexicon.translator.command=[x]", "kind command",
         TRANSLATOR),
        ("loss", "loss=softmax", "loss.in_batch=true", "kinds sosl, mse, proportional_odds and three_part_l2",
         "loss.in_batch=true"),
        ("loss", "loss=mse", "loss.learn_theta=true", "kinds sosl and proportional_odds", "loss.learn_theta=true"),
        ("training.objective", "loss.in_batch=false training.objective.kind=lists", "training.objective.documents=9",
         "kind drawn", "loss.in_batch=false training.objective.kind=drawn training.objective.documents=9"),
        ("beam", PORTABLE, "beam.project=a-project", "kind dataflow", DATAFLOW),
        ("beam", "beam.runner=in_process", "beam.parallelism=2", "kinds portable and dataflow",
         f"{PORTABLE} beam.parallelism=2"),
    )),
    ("channels.towers.encoder=cnn channels.towers.encoder.filter=9", "channels.towers.encoder.filter",
     "did you mean channels.towers.encoder.filters?",
     "channels.towers.encoder=cnn channels.towers.encoder.filters=9"),
    ("channels.towers.encoder=lstm channels.towers.encoder.units=0", "channels.towers.encoder.units", "1; got 0",
     "channels.towers.encoder=lstm channels.towers.encoder.units=1"),
    ("preset=polynomial channels.towers.encoder.degree=4", "channels.towers.encoder.degree", "2 or 3; got 4",
     "preset=polynomial channels.towers.encoder.degree=3"),
    ("channels.cl_lsi.dim=4097", "channels.cl_lsi.dim", "1 to 4096, or fitted … got 4097", "channels.cl_lsi.dim=4096"),
    (f"{LSI} channels.lsi.dim=fited", "channels.lsi.dim", "'fited'", f"{LSI} channels.lsi.dim=fitted"),
    ("channels.lsi.dim=9", "channels", "lsi must name its kind … did you mean cl_lsi?", f"{LSI} channels.lsi.dim=9"),
    ("training.objective.documents=9", "training.objective.kind", "drawn; got nothing", "training.objective=null"),
    ("channels.encoder=null channels.encoder.document_prefix=d", "channels.encoder.kind", "got nothing",
     "channels.encoder=null"),
    ("channels.encoder.kind=saved_model", "channels.encoder.path", "must be given", SAVED_MODEL),
    (ENDPOINT.replace("channels.encoder.query_model=m ", ""), "channels.encoder.query_model", "must be given",
     ENDPOINT),
    (f"{VECTORS} channels.encoder.document_vectors=null", "channels.encoder.document_vectors", "got None", VECTORS),
    ("channels.lexicon.translator=endpoint", "channels.lexicon.translator.address", "must be given", TRANSLATOR),
    ("channels.towers=[cossim]", "channels.towers", "a section, … two_towers, … got ['cossim']",
     'channels.towers={"kind":"cossim"}'),

    # The towers
    ("channels.towers.epsilon=0.99e-6", "channels.towers.epsilon", "1e-06 .. 1e+06 … got 9.9e-07",
     "channels.towers.epsilon=1e-6"),
    ("preset=polynomial channels.towers.encoder.start=lexicon channels.towers.encoder.terms=words",
     "channels.towers.encoder.start", "random … words … got lexicon",
     "preset=polynomial channels.towers.encoder.terms=words"),
    *((f"preset=polynomial channels.towers.encoder.start=lexicon channels.lexicon={lexicon}", "channels",
       f"lexicon … towers.encoder.start … got {shown}", f"preset=polynomial channels.lexicon={lexicon}")
      for lexicon, shown in (("null", "None"), ("bm25", "bm25"))),
    ("channels.towers=encoder_head", "channels", "encoder must be given … encoder_head",
     f"{ENDPOINT} channels.towers=encoder_head"),
    (f"preset=paper {TABLES} embeddings.train=false", "embeddings", "train must be true",
     f"preset=paper {TABLES} embeddings.train=false channels.towers.encoder.stem_embeddings=true"),
    (f"preset=polynomial channels.towers.encoder.terms=stems {TABLES}", "embeddings", "null … stems",
     f"preset=polynomial channels.towers.encoder.terms=words channels.towers.embedding_dim=64 {TABLES}"),
    (f"{ENDPOINT} channels.towers=encoder_head {TABLES}", "embeddings", "null … texts",
     f"{ENDPOINT} channels.towers.embedding_dim=64 {TABLES}"),

    # The loss
    *((f"loss.kind={name} loss.theta={theta}", "loss.theta", shown, f"loss.kind={name} loss.theta={good}")
      for name, theta, shown, good in (
        ("sosl", "[0.7,0.2]", "(-1, 1) … got [0.7, 0.2]", "[-0.999,0.999]"),
        ("sosl", "[0.2,0.2]", "got [0.2, 0.2]", "[0.2,0.20001]"),
        ("mse", "[-1,0.2]", "got [-1.0, 0.2]", "[-0.9,0.2]"),
        ("sosl", "[0.2,1]", "got [0.2, 1.0]", "null"),
        ("proportional_odds", "[]", "got []", "[0.1,0.3]"),
    )),
    ("loss=three_part_l2 loss.theta=[0.2,0.7]", "loss", "theta … 3 thresholds for three_part_l2 … got [0.2, 0.7]",
     "loss=three_part_l2 loss.theta=[0.2,0.5,0.7]"),
    ("loss.theta=[0.2]", "loss", "2 thresholds for sosl and data.top_grade 2 … [0.2]", "loss.theta=[0.2,0.3]"),
    ("data.top_grade=1 loss.theta=[0.5]", "loss", "2 thresholds … data.top_grade 1 … [0.5]", "data.top_grade=1"),
    ("data.top_grade=3 loss.theta=[0.2,0.7]", "loss", "3 … data.top_grade 3 … [0.2, 0.7]", "data.top_grade=3"),
    ("data.top_grade=1 loss.learn_theta=true", "loss", "false with data.top_grade 1", "loss.learn_theta=true"),
    ("loss.kind=three_part_l2 data.top_grade=3", "loss", "data.top_grade 2; got 3", "loss.kind=three_part_l2"),

    # The training
    ("training.batch_lists=6 training.replicas=4", "training", "replicas … got 6 and 4",
     "training.batch_lists=6 training.replicas=3"),
    ("training.batch_lists=6 training.workers=4", "training", "workers … got 6 and 4",
     "training.batch_lists=6 training.workers=6"),
    ("training.batch_lists=6 training.workers=2 training.replicas=2", "training",
     "workers x replicas … got 6 and 2 x 2",
     "training.batch_lists=8 training.workers=2 training.replicas=2"),
    ("training.batch_lists=6 training.device=cpu training.workers=2 training.replicas=3", "training.workers",
     "1 or null with 3 replicas … got 2", "training.batch_lists=6 training.device=cpu training.workers=2"),
    ("training.learning_rate_end=0.05 training.learning_rate_decay=0.9", "training", "got 0.9 and 0.05",
     "training.learning_rate_end=0.05 training.learning_rate_decay=1"),
    ("preset=closed channels.towers.kind=duet_distributed", "training", "duet_distributed",
     "preset=closed channels.towers.kind=duet_distributed loss.softmax_weight=0"),
    ("training.objective=lists", "training", "in_batch or null … got lists",
     "training.objective=lists loss.in_batch=false"),
    ("channels.lexicon.in_training=true", "training", "for lexicon",
     "channels.lexicon.in_training=true loss.in_batch=false"),
    (f"{LSI} channels.lsi.in_training=true", "training", "for lsi",
     f"{LSI} channels.lsi.in_training=true loss.in_batch=false"),
    ("training.sampling=equal", "training", "natural … got equal", f"training.sampling=equal {DOMAINS}"),
    (f"training.sampling=equal {DOMAINS} training.batch_lists=1", "data.domains", "at least 2; got 1",
     f"training.sampling=equal {DOMAINS} training.batch_lists=2"),
    ("adversary.weight=0.1", "adversary", "got 0.1", f"adversary.weight=0.1 {DOMAINS}"),
    (f"adversary.weight=0.1 {DOMAINS} data.held_out=[news]", "data.domains", "2 domains … got health",
     f"adversary.weight=0.1 adversary.held_out_texts=true {DOMAINS} data.held_out=[news]"),
    (f"adversary.weight=0.1 {DOMAINS} channels.lexicon.weight=held_out", "data.domains",
     "3 domains … got health, news",
     f"adversary.weight=0 {DOMAINS} channels.lexicon.weight=held_out"),
    (f"adversary.held_out_texts=true {DOMAINS}", "adversary", "got true", f"adversary.held_out_texts=false {DOMAINS}"),

    # The search for epsilon and theta
    *((f"tuning.epsilon={space}", "tuning.epsilon", shown, f"tuning.epsilon={good}") for space, shown, good in (
        ("0.5", "got 0.5", "[0.5]"),
        ("[]", "got []", "[0]"),
        ("[1,1]", "got [1.0, 1.0]", "[1,2]"),
        ("[0,0.9e-6]", "1e-06 .. 1e+06 … got 9e-07", "[0,1e-6]"),
        ("{}", "min None and max None", '{"min":0,"max":1}'),
        ('{"min":1,"max":1}', "min 1.0 and max 1.0", '{"min":1,"max":2}'),
        ('{"min":0,"max":1,"log":true}', "min 0.0", '{"min":0.1,"max":1,"log":true}'),
        ('{"min":1,"max":9,"log":true,"step":1}', "step 1.0", '{"min":1,"max":9,"log":true,"step":2}'),
        ('{"min":0,"max":1000,"step":1}', "1000 values … got 1.0", '{"min":0,"max":999,"step":1}'),
        ('{"values":[1],"min":0}', "got both", '{"values":[1]}'),
        ('{"min":1,"max":2,"stp":1}', "'stp' … values, min, max, step, log … step?", '{"min":1,"max":2,"step":1}'),
    )),
    ('tuning.theta=[[0.1,"x"],[0.5]]', "tuning.theta.0.values.1", "'x'", "tuning.theta=[[0.1,0.2],[0.5]]"),
    ("tuning.search=grid", "tuning", "epsilon or theta … grid", "tuning.search=grid tuning.epsilon=[1]"),
    ("tuning.search=random tuning.epsilon=[1]", "tuning.trials", "random … got null",
     "tuning.search=random tuning.epsilon=[1] tuning.trials=2"),
    ('tuning.search=grid tuning.epsilon={"min":1,"max":4}', "tuning.epsilon", "min 1 and max 4",
     'tuning.search=grid tuning.epsilon={"min":1,"max":4,"step":1}'),
    ('tuning.search=grid tuning.theta=[[0.1],{"min":0.2,"max":0.4}]', "tuning.theta", "min 0.2 and max 0.4",
     'tuning.search=bayesian tuning.trials=9 tuning.theta=[[0.1],{"min":0.2,"max":0.4}]'),
    ("tuning.theta=[[0.2,0.5],[0.5,0.7]]", "tuning.theta", "0.2 to 0.5, 0.5 to 0.7",
     "tuning.theta=[[0.2,0.49],[0.5,0.7]]"),
    ("tuning.theta=[[-1,0],[0.5]]", "tuning.theta", "(-1, 1) … -1 to 0", "tuning.theta=[[-0.9,0],[0.5]]"),
    ("tuning.theta=[[0.2]]", "tuning", "[0.2, 0.7] … got 1", "tuning.theta=[[0.2],[0.5]]"),
    ("tuning.theta=[[0.2]] loss.kind=softmax", "tuning", "null for softmax … got 1", "loss.kind=softmax"),
    ("tuning.epsilon=[1] channels.towers.similarity=dot", "tuning", "null … dot",
     "tuning.epsilon=[1] channels.towers.similarity=smooth_cosine"),
    ("tuning.epsilon=[1] channels.towers.kind=cossim", "tuning", "null … cossim", "channels.towers.kind=cossim"),

    # The channels
    *((f"channels.lexicon.weight={weight}", "channels.lexicon.weight", f"1e12, fitted or held_out … {shown}",
       f"channels.lexicon.weight={good}")
      for weight, shown, good in (
        ("-0.1", "-0.1", "0"), ("1.1e+12", "1100000000000.0", "1e+12"),
        ("much", "'much'", "fitted"),
        (".nan", "nan", "'2.5'"),
    )),
    (f"{LSI} channels.lsi.weight=null", "channels.lsi.weight", "got None", f"{LSI} channels.lsi.weight=1e-9"),
    ("channels.lexicon.title_pairs=true", "channels", "lexicon.title_pairs … data.wikipedia … got true",
     f"channels.lexicon.title_pairs=true {WIKIS}"),
    (f"channels.lexicon.title_pairs=true {WIKIS} data.split=documents", "channels", "queries … got true",
     f"{WIKIS} data.split=documents"),
    ("channels.lexicon.pairs_weight=2", "channels.lexicon.pairs_weight", "1 without pairs, … got 2",
     "channels.lexicon.pairs_weight=2 channels.lexicon.pairs=pairs.tsv"),
    (f"channels.lexicon.title_pairs_weight=2 {WIKIS}", "channels.lexicon.title_pairs_weight",
     "1 without title_pairs, … got 2",
     f"channels.lexicon.title_pairs_weight=2 channels.lexicon.title_pairs=true {WIKIS}"),
    ("channels.lexicon.translations_weight=2", "channels.lexicon.translations_weight", "0.1 without translator, … 2",
     f"{TRANSLATOR} channels.lexicon.translations_weight=2"),
    *((f"{setting}=held_out", "channels", f"{name}.weight … held_out … data.domains",
       f"{setting}=held_out {DOMAINS}")
      for setting, name in (
        ("channels.lexicon.weight", "lexicon"),
        ("channels.cl_lsi.weight", "cl_lsi"),
        (f"{LSI} channels.lsi.weight", "lsi"),
        (f"{ENDPOINT} channels.encoder.weight", "encoder"),
    )),
    ("channels.Lsi=cl_lsi", "channels", "'Lsi'", LSI),
    ("channels.bm25=cl_lsi", "channels", "got bm25", "channels.bm=cl_lsi"),
    ("channels.scores=cl_lsi", "channels", "got scores", "channels.score=cl_lsi"),
    ("channels.smooth_cosine=cl_lsi", "channels", "got smooth_cosine", "channels.cosine=cl_lsi"),
    ("channels.words=bm25", "channels", "words … bm25 … channels.lexicon", LSI),
    ("channels.meaning=encoder", "channels", "meaning … encoder … channels.encoder", ENDPOINT),

    # The pre-trained encoder
    *((f"{ENDPOINT} channels.encoder.address={address}", "channels.encoder.address", shown,
       f"{ENDPOINT} channels.encoder.address={good}")
      for address, shown, good in (
        ("''", "http://host:port … ''", "http://h/"),
        ("localhost:8000", "'localhost:8000'", "https://h/openai"),
        ("ftp://h", "'ftp://h'", "http://127.0.0.1:1"),
        ("http://:80", "'http://:80'", "http://h:80"),
        ("http://h:0", "'http://h:0'", "http://h:1"),
        ("http://h:65536", "'http://h:65536'", "http://h:65535"),
        ("'http://[::1'", "'http://[::1'", "'http://[::1]:80'"),
        ("http://h#1", "'http://h'", "http://h"),
        (r'"http://h\n"', r"'http://h\n'", "http://h"),
    )),
    (f"{ENDPOINT} channels.encoder.key_variable=CLIR_", "channels.encoder.key_variable", "CLIR_",
     f"{ENDPOINT} channels.encoder.key_variable=CLIR_1"),
    (f"{ENDPOINT} channels.encoder.key_variable=CLIR_key", "channels.encoder.key_variable", "CLIR_",
     f"{ENDPOINT} channels.encoder.key_variable=CLIR_A_B"),

    # The data
    ("data.documents=wiki.queries", "data", "wiki.queries', ", "data.documents=wiki.documents"),
    ("data.judgments=null", "data.judgments", "", WIKIS),
    (WIKIS.replace("data.queries=null ", ""), "data.wikipedia", "queries", WIKIS),
    (f"{WIKIS} {DOMAINS}", "data.wikipedia", "domains", WIKIS),
    (f"{WIKIS} data.top_grade=1 loss.kind=softmax", "data.wikipedia", "0, 1 and 2 … top_grade 1",
     f"{WIKIS} data.top_grade=2"),
    (f'{DUMPS}={{"wikis":{{{LINKS}}}}}', "data", "fr … en", WIKIS),
    (f'{DUMPS}={{"wikis":{{{LINKS.partition(",")[0]}}},{FR}}}}}', "data",
     "wikipedia.wikis.en.language_links, wikis.fr.language_links or sitelinks", WIKIS),
    (f'{DUMPS}={{"wikis":{{{LINKS},{FR},"xx":{{"pages":"fr.xml"}}}}}}', "data.wikipedia.wikis", "'xx'", WIKIS),
    (f"{WIKIS} data.wikipedia.wikis.en.link_targets=en.sql", "data.wikipedia.wikis.en.link_targets", "en.sql'",
     f"{WIKIS} data.wikipedia.wikis.en.page_links=en.sql data.wikipedia.wikis.en.link_targets=en.sql"),
    ("data.held_out=[news]", "data.held_out", "data.domains … got news", f"data.held_out=[news] {DOMAINS}"),
    (f"data.held_out=[news,news] {DOMAINS}", "data.held_out", "got news, news", f"data.held_out=[health] {DOMAINS}"),
    (f"data.held_out=[heath] {DOMAINS}", "data.held_out", "(health, news) … 'heath' … health?",
     f"data.held_out=[health] {DOMAINS}"),
    (f"data.held_out=[health,news] {DOMAINS}", "data.held_out", "health, news", f"data.held_out=[news] {DOMAINS}"),
    ("data.candidates=candidates data.test_negatives=9", "data.test_negatives", "data.candidates … got 9",
     "data.test_negatives=9"),
    ("data.candidates=candidates data.split=documents", "data.split", "queries … 'documents'", "data.split=documents"),

    # Evaluation and search
    ("evaluation.baselines=[bm25,bm25]", "evaluation.baselines", "got bm25, bm25", "evaluation.baselines=[]"),
    ('evaluation.minimums={"mapp":0.5}', "evaluation.minimums", "p_mr@K, … 'mapp' … map?",
     'evaluation.minimums={"map":0.5}'),
    ('evaluation.minimums={"map":1.1}', "evaluation.minimums", "map … [0, 1] … got 1.1",
     'evaluation.minimums={"map":1}'),
    ('evaluation.minimums={"map":-0.1}', "evaluation.minimums", "got -0.1", 'evaluation.minimums={"map":0.0}'),
    ('evaluation.minimums={"map":yes}', "evaluation.minimums.map", "got True", "evaluation.minimums={}"),
    ('evaluation.minimums={"RR":0.5,"mrr_r":0.2}', "evaluation.minimums", "RR, mrr_r",
     'evaluation.minimums={"RR":0.5}'),
    ("channels.lexicon=null feedback.gain=4", "feedback", "0 without channels.lexicon, … got 4.0",
     "channels.lexicon.kind=bm25 feedback.gain=4"),
    ("preset=duet_distributed channels.lexicon.kind=bm25 feedback.gain=fitted", "feedback",
     "duet_distributed … got fitted",
     "preset=cossim channels.lexicon.kind=bm25 feedback.gain=fitted"),
    ("evaluation.baselines=[translated_bm25]", "evaluation", "query_translator … got None … translated_bm25",
     "evaluation.baselines=[bm25_stems]"),
    ("evaluation.query_translator.kind=endpoint evaluation.query_translator.address=http://localhost:5000",
     "evaluation", "translated_rm3 … endpoint … bm25",
     "evaluation.query_translator=null"),
    ("feedback.gain=best", "feedback.gain", "0 … fitted … 'best'", "feedback.gain=0"),
    ("feedback.gain=12 feedback.documents=4", "feedback.documents", "1, 2, 3, 5 or 'fitted' … got 4",
     "feedback.gain=12 feedback.documents=fitted"),
    ("feedback.gain=0 feedback.documents=fitted", "feedback.documents", "feedback.gain is 0 … got fitted",
     "feedback.gain=0 feedback.documents=5"),
    ("evaluation.baselines=[paper] training.batch_lists=18 training.workers=3", "evaluation", "16 … got 3 x 1",
     "evaluation.baselines=[paper] training.batch_lists=18 training.workers=2"),
    ("evaluation.baselines=[paper] training.batch_lists=18 training.replicas=3", "evaluation", "16 … got 1 x 3",
     "training.batch_lists=18 training.replicas=3"),
    ("evaluation.baselines=[translated] data.query_language=fr", "evaluation", "translated",
     "evaluation.baselines=[lsi] data.query_language=fr channels.lexicon=null"),
    ("evaluation.baselines=[tfidf,lsi] channels.lexicon=null", "evaluation", "lsi … channels.lexicon … got tfidf, lsi",
     "evaluation.baselines=[tfidf] channels.lexicon=null"),
    ("preset=duet_distributed search.index=true", "search", "duet_distributed … got true",
     "preset=cossim search.index=true"),
    ("search.fields=[lang]", "search.fields", "search.index … got lang", "search.fields=[]"),
    ("search.index=true search.fields=[a,A]", "search.fields", "once; got a, a", "search.index=true"),
    ("search.index=true search.fields=[text]", "search.fields.0", "'text'", "search.index=true"),
    (f"{WIKIS} search.index=true search.fields=[lang]", "search", "Wikipedia … got lang", f"{WIKIS} search.index=true"),
    ("search.engine=milvus", "search.engine", "local … search.index … got milvus", MILVUS),
    (f"{MILVUS} search.milvus.address=null", "search.milvus", "milvus … got null", MILVUS),
    (f"{MILVUS} search.engine=local", "search.milvus", "local", "search.engine=local"),
    (f"{MILVUS} search.milvus.vector_index.nprobe=129", "search.milvus.vector_index.nprobe", "nlist, 128 … got 129",
     f"{MILVUS} search.milvus.vector_index.nprobe=128"),
    (f"{MILVUS} search.milvus.address=milvus://host", "search.milvus.address", "''",
     f"{MILVUS} search.milvus.shards=2"),

    # Beam
    *((f"{PORTABLE} beam.{bad}", f"beam.{key}", shown, f"{PORTABLE} beam.{good}") for bad, key, shown, good in (
        ("endpoint=null", "endpoint", "got None", "endpoint='[::1]:1'"),
        ("endpoint=localhost", "endpoint", "host:port … 'localhost'", "endpoint=localhost:1"),
        ("endpoint=localhost:0", "endpoint", "'localhost:0'", "endpoint=localhost:1"),
        ("endpoint=localhost:65536", "endpoint", "'localhost:65536'", "endpoint=localhost:65535"),
        ("endpoint=http://localhost:8099", "endpoint", "'http://localhost:8099'", "endpoint=a.b-c_d:8099"),
        ("environment_config=null", "environment_config", "external … got None", "environment_config=h:1"),
        ("environment=docker beam.environment_config=/i", "environment_config", "docker … '/i'",
         "environment=docker beam.environment_config=i/j:1"),
        ('environment=process beam.environment_config=\'{"command":""}\'', "environment_config", '\'{"command":""}\'',
         'environment=process beam.environment_config=\'{"command":"x"}\''),
        ("environment=process beam.environment_config='{'", "environment_config", "'{'",
         'environment=process beam.environment_config=\'{"command":"x"}\''),
        ("environment=loopback", "environment_config", "null … loopback … 'localhost:1'",
         "environment=loopback beam.environment_config=null"),
        ('options={"--flink":"x"}', "options", "['--flink']", 'options={"flink":"x"}'),
        ('options={"parallelism":"2"}', "options", "['parallelism']", "parallelism=2"),
    )),
    *((f"{DATAFLOW} beam.{bad}", f"beam.{key}", shown, f"{DATAFLOW} beam.{good}") for bad, key, shown, good in (
        ("project=null", "project", "got None", "project=p1"),
        ("region=Europe", "region", "'Europe'", "region=europe-west1"),
        ("temp_location=/tmp", "temp_location", "gs://... … '/tmp'", "temp_location=gs://bucket"),
    )),
    (f"{DATAFLOW} beam.image=null", "beam", "image or setup_file … got None",
     f"{DATAFLOW} beam.image=null beam.setup_file=setup.py"),
    (f"{DATAFLOW} beam.setup_file=setup.py", "beam", "'docker.example/worker:1' and 'setup.py'", DATAFLOW),

    # Kubeflow
    ("kubeflow.image=a,b", "kubeflow.image", "'a,b'", f"kubeflow.image=registry:5000/clir@sha256:{64 * '0'}"),
    ("kubeflow.pipeline_root=/folder", "kubeflow.pipeline_root", "gs://, s3://, minio:// … '/folder'",
     "kubeflow.pipeline_root=s3://b"),
    ("kubeflow.pipeline_root=gs://", "kubeflow.pipeline_root", "'gs://'", "kubeflow.pipeline_root=gs://b/f"),
    *((f"kubeflow.volumes={{{volumes}}}", "kubeflow.volumes", shown,
       'kubeflow.volumes={"claim-1.a":"/mnt","b":"/mnt/b"}')
      for volumes, shown in (
        ('"Claim":"/mnt"', "'Claim'"), ('"c":"mnt"', "c … 'mnt'"), ('"c":"/"', "c … '/'"),
        ('"c":"/mnt/../etc"', "'/mnt/../etc'"), ('"c":"/mnt","d":"/mnt/"', "/mnt, /mnt/"),
    )),
    (f"{POD}.cpu=0", f"{POD}.cpu", "0 … got 0", f"{POD}.cpu=0.5"),
    (f"{POD}.memory=-1", f"{POD}.memory", "0 … got -1", f"{POD}.memory=1"),
    (f"{POD}.gpus=1", f"{POD}.gpus", "", f"{POD}.accelerator=nvidia.com/gpu"),
    (f"{POD}.accelerator_count=2", f"{POD}.accelerator_count", "accelerator … got 2",
     f"{POD}.accelerator=nvidia.com/gpu {POD}.accelerator_count=2"),
]
# fmt: on


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The collection, and every further file that the rows name."""
    folder = tmp_path_factory.mktemp("rules")
    write_collection(folder)
    write_vectors(folder, {"q": QUERIES, "d": DOCUMENTS})
    (folder / "model").mkdir()
    texts = {"64.vec": f"loup{64 * ' 1'}\n", "pairs.tsv": "wolf\tloup\n"}
    for name, text in {**dict.fromkeys(["model/saved_model.pb", "en.xml", "fr.xml", "en.sql"], "x"), **texts}.items():
        (folder / name).write_text(text)
    return folder


@pytest.mark.parametrize(("settings", "key", "shown", "good"), RULES, ids=[key for _, key, *_ in RULES])
def test_a_rule_refuses_with_its_key_and_the_value_and_takes_its_neighbour(
    folder: Path, monkeypatch: pytest.MonkeyPatch, settings: str, key: str, shown: str, good: str
) -> None:
    monkeypatch.chdir(folder)
    load_config("run.yaml", good.split())
    with pytest.raises(ConfigError) as error:
        load_config("run.yaml", settings.split())
    (fault,) = error.value.faults
    location, separator, message = fault.partition(f": {key}: ")
    locations = ("run.yaml", "run.yaml:1", *(f"--set {setting}" for setting in settings.split()))
    locations += tuple(f"--set {setting.partition('=')[0]}=..." for setting in settings.split())
    assert separator and location in locations, fault
    assert all(text in message for text in shown.split(" … ")), fault


@pytest.mark.parametrize(
    "setting",
    [
        *(
            f"channels.encoder.address=http://{user}@h:80"
            for user in (SECRET, f"user:{SECRET}", f":{SECRET}", f"{SECRET}:")
        ),
        *(
            f"channels.encoder.address={address}"
            for address in (f"http://{SECRET}@h:0", f"http://{SECRET}@[h", f"{SECRET}@h")
        ),
        f"channels.encoder.address=http://h/?api_key={SECRET}",
        f"channels.encoder.key_variable={SECRET}",
        f"channels.encoder.key_variable=AWS_{SECRET}",
        f"channels.encoder={{kind: endpoint, key_variable: {SECRET}}}",
        f"channels.lexicon.translator.key_variable={SECRET}",
        f"channels.lexicon.translator.address=http://{SECRET}@h:80",
        f"channels.lexicon.translator={{kind: endpoint, key_variable: {SECRET}}}",
        f"channels.lexicon={{translator: {{kind: endpoint, key_variable: {SECRET}}}}}",
        f"channels={{encoder: {{kind: endpoint, key_variable: {SECRET}}}}}",
    ],
)
def test_no_fault_repeats_a_password_or_a_key(folder: Path, monkeypatch: pytest.MonkeyPatch, setting: str) -> None:
    monkeypatch.chdir(folder)
    key, _, value = setting.partition("=")
    cases = [("run.yaml", [*ENDPOINT.split(), setting])]
    if key.startswith("channels.encoder."):
        own = f"channels: {{encoder: {{kind: endpoint, query_model: m, {key.rpartition('.')[2]}: '{value}'}}}}\n"
        (folder / "secret.yaml").write_text((folder / "run.yaml").read_text() + own)
        cases.append(("secret.yaml", []))
    for path, overrides in cases:
        with pytest.raises(ConfigError, match=key) as error:
            load_config(path, overrides)
        assert SECRET not in str(error.value)
