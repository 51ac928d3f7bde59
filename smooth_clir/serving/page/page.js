"use strict";

// Every text of a document, a query or an answer goes into the page as text, never as markup.

const PAGE = 10;
const SHOWN_WORDS = 8;
const SHOWN_ANSWERS = 8;

const at = (id) => document.getElementById(id);
const form = at("form"), box = at("query"), filter = at("where");

let collection = null; // what the service says of itself
let asked = 0; // the number of the newest search: answers to older ones come too late
let shown = { query: "", where: "", k: PAGE };

function element(tag, properties = {}, ...children) {
  const made = document.createElement(tag);
  for (const [name, value] of Object.entries(properties)) {
    if (value === null || value === undefined) continue;
    if (name.startsWith("--")) made.style.setProperty(name, value);
    else made.setAttribute(name, value);
  }
  made.append(...children.filter((child) => child !== null));
  return made;
}

const round = (value, digits) => Math.round(value * 10 ** digits) / 10 ** digits;

function number(value, digits = 3) {
  const text = Math.abs(round(value, digits)).toFixed(digits);
  return round(value, digits) < 0 ? `\u2212${text}` : text;
}

const language = (code) => {
  try {
    return new Intl.DisplayNames(["en"], { type: "language" }).of(code);
  } catch {
    return code;
  }
};
const codesOf = (joined) => joined ? joined.split("+") : [];
const languages = (joined) => new Intl.ListFormat("en").format(codesOf(joined).map(language));
// The code of the only language; null where there are several, or none is known.
const onlyLanguage = (joined) => codesOf(joined).length === 1 ? joined : null;

const searched = () => collection?.has_passages ? ["passage", "passages"] : ["document", "documents"];
const plural = (count, one, many) => `${count.toLocaleString("en")} ${count === 1 ? one : many}`;

// Asking the service

class Refused extends Error {
  constructor(title, sentence) {
    super(sentence);
    this.title = title;
  }
}

async function ask(path, parameters) {
  let answer;
  try {
    answer = await fetch(`${path}?${new URLSearchParams(parameters)}`, { headers: { accept: "application/json" } });
  } catch {
    throw new Refused("The service does not answer", "It may be restarting, or the connection is lost. Try again in a moment.");
  }
  const content = await answer.json().catch(() => ({}));
  if (answer.ok) return content;
  const sentence = content.error || `It answered with status ${answer.status}.`;
  if (answer.status === 503) {
    const seconds = answer.headers.get("retry-after");
    const again = seconds ? ` Try again in ${plural(Number(seconds), "second", "seconds")}.` : "";
    throw new Refused("The service is busy", `${sentence}${sentence.includes("again") ? "" : again}`);
  }
  if (answer.status === 504) throw new Refused("The search took too long", sentence);
  throw new Refused("The service refused this query", sentence);
}

// A search

async function search(query, where, k = PAGE) {
  const number_ = ++asked;
  const isMore = query === shown.query && where === shown.where && k > PAGE;
  at("problem").replaceChildren();
  at("hint").hidden = Boolean(query);
  at("examples").hidden = Boolean(query) || !collection?.example_queries.length;
  document.title = query ? `${query.slice(0, 80)} \u2013 Smooth CLIR` : "Smooth CLIR";
  if (!query) {
    showNothing("");
    return;
  }
  const most = collection?.most_query_characters;
  const characters = Array.from(query).length;
  if (most && characters > most) {
    showNothing("");
    showProblem(new Refused("The query is too long",
      `A query may have ${plural(most, "character", "characters")}; this one has ${characters.toLocaleString("en")}.`));
    return;
  }
  at("found").setAttribute("aria-busy", "true");
  const waiting = setTimeout(() => at("status").replaceChildren("Searching\u2026"), 200);
  try {
    const answer = await ask("v1/search", { ...parameters(query, where), k, snippets: true });
    if (number_ === asked) showAnswer(answer, where, k, isMore);
  } catch (error) {
    if (number_ !== asked) return;
    showNothing("");
    showProblem(error, () => search(query, where, k));
  } finally {
    clearTimeout(waiting);
    if (number_ === asked) at("found").removeAttribute("aria-busy");
  }
}

function showProblem(error, again = null) {
  const problem = element("div", { class: "problem" },
    element("h2", {}, error.title || "The page failed"), element("p", {}, error.message));
  if (again) {
    const button = element("button", { type: "button" }, "Try again");
    button.addEventListener("click", again);
    problem.append(button);
  }
  at("problem").replaceChildren(problem);
}

function showNothing(status) {
  at("found").hidden = true;
  at("results").replaceChildren();
  at("status").replaceChildren(element("span", { class: "nothing" }, status));
}

function showAnswer(answer, where, k, isMore) {
  shown = { query: answer.query, where, k };
  showVersions(answer);
  if (!answer.results.length) {
    showNothing(answer.documents
      ? `Nothing was found: the model knows no word of this query, or no document${where ? " that matches the filter" : ""} answers one. Try other words.`
      : "Nothing was found: the index is empty.");
    return;
  }
  at("status").replaceChildren(
    element("strong", {}, plural(answer.results.length, "result", "results")),
    ` of ${plural(answer.documents, ...searched())}, in ${number(answer.milliseconds, answer.milliseconds < 10 ? 1 : 0)} ms`,
    ...(answer.why_no_good_answer
      ? [element("span", { class: "no-answer" }, element("strong", {}, "No good answer: "), `${answer.why_no_good_answer}.`)] : []));
  const scale = scaleOf(answer.results);
  // They hold for queries like the judged ones, and for documents like the model's.
  const hasShares = answer.no_good_answer === false && answer.results.every((hit) => hit.relevant_share !== null);
  const items = answer.results.map((hit) => element("li", {}, resultOf(answer.query, hit, scale, hasShares)));
  const before = isMore ? at("results").children.length : 0;
  // Those that are there already stay, with what is open in them.
  if (before) at("results").append(...items.slice(before));
  else at("results").replaceChildren(...items);
  showLegend(answer.results);
  at("found").hidden = false;
  const most = Math.min(collection?.most_k ?? k, answer.documents);
  at("more").hidden = answer.results.length < k || k >= most;
  if (before) items[before]?.querySelector("summary").focus({ preventScroll: true });
}

function showVersions(answer) {
  at("versions").replaceChildren(`Model ${answer.model_version} \u00b7 index ${answer.index_version}`);
}

// One scale for the bars of all results, so that they can be compared.
function scaleOf(hits) {
  const values = hits.flatMap((hit) => [hit.dense, hit.words, hit.feedback]);
  const low = Math.min(0, ...values), high = Math.max(0.001, ...values);
  const place = (value) => `${(100 * (value - low)) / (high - low)}%`;
  const size = (value) => `${(100 * Math.abs(value)) / (high - low)}%`;
  return { place, size };
}

function barOf(value, scale, kind) {
  const fill = element("span", {
    class: value < 0 ? "fill negative" : "fill", "--from": scale.place(Math.min(0, value)), "--size": scale.size(value),
  });
  return element("span", { class: `bar ${kind}`, "aria-hidden": "true" }, fill);
}

function showLegend(hits) {
  const hasWords = hits.some((hit) => hit.words !== 0), hasFeedback = hits.some((hit) => hit.feedback !== 0);
  at("legend").replaceChildren(
    element("span", { class: "key vectors" }, "vectors: texts that mean alike"),
    ...(hasWords ? [element("span", { class: "key words" }, "words: translations that match")] : []),
    ...(hasFeedback ? [element("span", { class: "key feedback" }, "first documents: similar to the first documents found")] : []),
    ...(collection?.why_no_shares ? [element("span", { class: "no-shares" }, `No share of relevant documents is shown: ${collection.why_no_shares}.`)] : []));
}

function resultOf(query, hit, scale, hasShares) {
  const lang = hit.fields.lang ?? onlyLanguage(collection?.document_language);
  // The parts as shown add up to the score as shown.
  const score = round(hit.score, 3), feedback = round(hit.feedback, 3);
  const dense = hit.words !== 0 ? round(hit.dense, 3) : score - feedback;
  const rows = [
    element("span", { class: "part" }, "vectors"), barOf(hit.dense, scale, "vectors"),
    element("span", { class: "number" }, number(dense)),
  ];
  if (hit.words !== 0) {
    rows.push(element("span", { class: "part" }, "words"), barOf(hit.words, scale, "words"),
      element("span", { class: "number" }, number(score - dense - feedback)));
  }
  if (hit.feedback !== 0) {
    rows.push(element("span", { class: "part" }, "first documents"), barOf(hit.feedback, scale, "feedback"),
      element("span", { class: "number" }, number(feedback)));
  }
  const share = hasShares ? element("span", { class: "relevant", title: meaningOf(hit.score - hit.feedback, hit.relevant_share) }, chance(hit.relevant_share)) : null;
  return element("article", { class: "result" },
    element("div", { class: "heading" },
      element("span", { class: "rank" }, String(hit.rank)),
      element("h2", { lang, dir: "auto" }, hit.title || hit.doc_id),
      element("span", { class: "doc-id" }, element("span", { class: "hidden" }, "document "), hit.doc_id,
        hit.passage === null ? "" : `, passage ${hit.passage + 1}`)),
    fieldsOf(hit.fields),
    snippetOf(hit.snippet, lang),
    element("div", { class: "score" },
      element("span", { class: "total" }, element("strong", {}, element("span", { class: "hidden" }, "score "), number(score)), share),
      ...rows),
    collection?.can_explain === false ? null : whyOf(query, hit, lang, hasShares));
}

function fieldsOf(fields) {
  const entries = Object.entries(fields);
  if (!entries.length) return null;
  return element("dl", { class: "fields" }, ...entries.map(([name, value]) => element("div", {},
    element("dt", {}, name === "lang" ? "language" : name), " ", element("dd", { dir: "auto" }, name === "lang" ? language(value) : value))));
}

function snippetOf(snippet, lang) {
  const made = element("p", { class: "snippet", lang, dir: "auto" });
  if (!snippet) return made;
  if (!snippet.is_beginning) made.append("\u2026\u00a0");
  for (const piece of snippet.pieces) made.append(piece.is_match ? element("mark", {}, piece.text) : piece.text);
  if (!snippet.is_end) made.append("\u00a0\u2026");
  return made;
}

// As in schemas/wording.py: an estimate is never none and never all.
function percentage(share) {
  const percent = Math.round(100 * share);
  return `${percent < 1 ? "<1" : percent > 99 ? ">99" : percent} %`;
}

const CHANCES = [[0.9, "very likely"], [0.66, "likely"], [0.33, "perhaps"], [0.1, "unlikely to be"], [0, "very unlikely to be"]];

function chance(share) {
  const [, words] = CHANCES.find(([least]) => share >= least);
  return `${words} relevant, ${percentage(share)}`;
}

function meaningOf(score, share) {
  return `Of the documents with a score of ${number(score)} by vectors and words, ${percentage(share)} are relevant, as measured on judged queries.`;
}

// Why

function whyOf(query, hit, lang, hasShares) {
  const panel = element("div", { class: "panel" });
  const details = element("details", { class: "why" }, element("summary", {}, "Why this score", element("span", { class: "hidden" }, ` of ${hit.title || hit.doc_id}`)), panel);
  async function fill() {
    panel.replaceChildren(element("p", { class: "note", role: "status" }, "Asking the model\u2026"));
    try {
      panel.replaceChildren(...explained(await ask("v1/explain", { ...parameters(query, shown.where), place: hit.place }), lang, hasShares));
    } catch (error) {
      const button = element("button", { type: "button" }, "Try again");
      button.addEventListener("click", fill);
      panel.replaceChildren(element("div", { class: "problem" }, element("p", { role: "alert" }, error.message), button));
    }
  }
  details.addEventListener("toggle", () => {
    if (details.open && !panel.hasChildNodes()) fill();
  });
  return details;
}

function explained(answer, lang, hasShares) {
  const { parts, words, lexicon, notes, without_shares } = answer.explanation;
  const hasWords = words.some((word) => word.lexicon !== null);
  const feedback = parts.find((part) => part.name === "feedback");
  const firstPass = parts.filter((part) => part !== feedback);
  const wordsPart = hasWords ? firstPass[firstPass.length - 1].part : 0;
  const total = round(answer.score, 4), added = round(feedback?.part ?? 0, 4);
  const dense = round(answer.score - (feedback?.part ?? 0) - wordsPart, 4), matching = total - added - dense;
  const channels = firstPass.slice(0, hasWords ? -1 : undefined);
  const hasDense = channels.length > without_shares.length;
  return [
    element("p", { class: "sum" },
      element("span", { class: "vectors" }, `${number(dense, 4)} vectors`),
      ...(hasWords ? [" + ", element("span", { class: "words" }, `${number(matching, 4)} words`)] : []),
      ...(feedback ? [" + ", element("span", { class: "feedback" }, `${number(added, 4)} similar to the first documents`)] : []),
      ` = ${number(total, 4)}`),
    hasShares ? element("p", { class: "note" }, meaningOf(answer.score - (feedback?.part ?? 0), answer.relevant_share)) : null,
    ...(hasWords ? matchesOf(lexicon, matching, lang) : []),
    ...vectorsOf(words, dense, channels, without_shares, lang),
    element("h3", {}, "The whole text"),
    element("p", { class: "note" }, `${[
      ...(hasDense ? [`The stronger a word\u2019s blue, the more it adds by ${namesOf(channels.filter((one) => !without_shares.includes(one.name)))}.`] : []),
      ...(hasWords ? ["The stronger its amber line, the more a word adds by words that match."] : [])].join(" ")}`),
    wholeOf(answer.text, words, lang),
    ...notes.map((note) => element("p", { class: "note" }, note)),
  ].filter(Boolean);
}

function headOf(...names) {
  return element("thead", {}, element("tr", {}, ...names.map((name) => element("th", { scope: "col" }, name))));
}

function footOf(columns, total) {
  return element("tfoot", {}, element("tr", {}, element("th", { scope: "row", colspan: columns }, "Together"), element("td", {}, number(total, 4))));
}

const joined = (texts, term) => (texts.length ? texts : [term]).join(", ");

function matchesOf(lexicon, total, lang) {
  const heading = element("h3", {}, "Words that match");
  if (!lexicon.length) return [heading, element("p", { class: "note" }, "No word of this document answers one of the query.")];
  const groups = new Map();
  for (const entry of lexicon) {
    const name = joined(entry.query_words, entry.query_term);
    if (!groups.has(name)) groups.set(name, []);
    groups.get(name).push(entry);
  }
  const sum = (entries) => entries.reduce((so_far, entry) => so_far + entry.part, 0);
  const ordered = [...groups].sort((one, other) => sum(other[1]) - sum(one[1]));
  let left = round(total, 4);
  const rows = ordered.map(([name, entries], place) => {
    // The last row takes what rounding left, so that the column adds up.
    const value = place === ordered.length - 1 ? left : round(sum(entries), 4);
    left = round(left - value, 4);
    const large = entries.filter((entry) => round(entry.part, 4) > 0).slice(0, SHOWN_ANSWERS);
    const rest = entries.slice(large.length);
    const answers = large.map((entry) => element("li", {},
      element("span", { lang, dir: "auto" }, joined(entry.document_words, entry.document_term)), " ", element("small", {}, number(entry.part, 4))));
    if (rest.length) answers.push(element("li", { class: "rest" }, element("small", {}, `${rest.length} more ${number(sum(rest), 4)}`)));
    return element("tr", {}, element("th", { scope: "row", dir: "auto", lang: onlyLanguage(collection?.query_language) }, name),
      element("td", { class: "fluid" }, element("ul", { class: "answers" }, ...answers)), element("td", {}, number(value, 4)));
  });
  return [heading, element("table", {},
    element("caption", {}, "The share of each query word, through the document words that translate it."),
    headOf("Query", "Document", "Adds"), element("tbody", {}, ...rows), footOf(2, total))];
}

const namesOf = (parts) => parts.map((part) => part.name).join(" + ");

function vectorsOf(words, total, channels, withoutShares, lang) {
  const heading = element("h3", {}, "Vectors ", element("span", { class: "number" }, `(${namesOf(channels)})`));
  const whole = channels.filter((part) => withoutShares.includes(part.name));
  // The same word may stand in a text many times.
  const shares = new Map();
  if (whole.length < channels.length) {
    for (const word of words.filter((one) => one.is_scored)) {
      const key = word.text.toLocaleLowerCase();
      const before = shares.get(key) ?? { text: word.text, count: 0, share: 0 };
      shares.set(key, { text: before.text, count: before.count + 1, share: before.share + word.dense });
    }
  }
  const ordered = [...shares.values()].sort((one, other) => Math.abs(other.share) - Math.abs(one.share));
  const rest = ordered.slice(SHOWN_WORDS);
  const items = [
    ...whole.map((part) => ({ head: element("em", {}, part.name), note: "the whole text", value: part.part })),
    ...ordered.slice(0, SHOWN_WORDS).map((one) => ({
      head: element("span", { lang, dir: "auto" }, one.text), note: one.count > 1 ? `\u00d7 ${one.count}` : "", value: one.share,
    })),
  ];
  const values = items.map((item) => item.value);
  const low = Math.min(0, ...values), high = Math.max(1e-9, ...values);
  const scale = {
    place: (value) => `${(100 * (value - low)) / (high - low)}%`, size: (value) => `${(100 * Math.abs(value)) / (high - low)}%`,
  };
  // The last row takes what rounding left, so that the column adds up.
  let left = round(total, 4);
  const rows = items.map((item, place) => {
    const value = !rest.length && place === items.length - 1 ? left : round(item.value, 4);
    left = round(left - value, 4);
    return element("tr", {},
      element("th", { scope: "row" }, item.head, " ", element("small", { class: "rest" }, item.note)),
      element("td", { class: "wide" }, barOf(item.value, scale, "vectors")), element("td", {}, number(value, 4)));
  });
  if (rest.length) {
    rows.push(element("tr", {}, element("td", { class: "rest", colspan: 2 }, plural(rest.length, "other word", "other words")),
      element("td", {}, number(left, 4))));
  }
  const captions = [
    ...(whole.length ? [`${namesOf(whole)}: one number for the whole text, in which no word has a share.`] : []),
    ...(shares.size ? ["The share of each document word; all shares include a factor of the whole text, which would change without a word."] : []),
  ];
  return [heading, element("table", {}, element("caption", {}, captions.join(" ")),
    headOf("Document", "", "Adds"), element("tbody", {}, ...rows), footOf(2, total))];
}

function wholeOf(text, words, lang) {
  const characters = Array.from(text); // places are counted in whole characters
  const made = element("p", { class: "whole", lang, dir: "auto" });
  const largest = (name) => Math.max(1e-9, ...words.map((word) => word[name] ?? 0));
  const dense = largest("dense"), matching = largest("lexicon");
  const strength = (value, most) => String(round(Math.max(0, value ?? 0) / most, 3));
  let place = 0;
  const unscored = words.find((word) => !word.is_scored);
  const limit = unscored ? unscored.start : characters.length;
  for (const word of words.filter((one) => one.is_scored)) {
    made.append(characters.slice(place, word.start).join(""));
    made.append(element("span", {
      class: "share", "--vectors-share": round(0.5 * strength(word.dense, dense), 3), "--words-share": strength(word.lexicon, matching),
    }, characters.slice(word.start, word.end).join("")));
    place = word.end;
  }
  made.append(characters.slice(place, limit).join(""));
  if (unscored) {
    made.append(element("span", { class: "unscored-note", lang: "en", dir: "ltr" }, "[not scored, for it lies beyond the limit on a text:] "),
      element("span", { class: "unscored" }, characters.slice(limit).join("")));
  }
  return made;
}

// What people do

function showCollection() {
  const from = languages(collection.query_language), to = languages(collection.document_language);
  at("collection").replaceChildren(`${plural(collection.documents, ...searched())}${to ? ` in ${to}` : ""}${from ? `, queries in ${from}` : ""}`);
  if (from && to) {
    at("welcome").replaceChildren(`Search ${to} documents in ${from}. Nothing is translated for it: each document is compared with your query.`);
    box.placeholder = `Search in ${from}`;
  }
  const lang = onlyLanguage(collection.query_language);
  if (lang) box.lang = lang;
  const fields = Object.entries(collection.fields);
  at("filter").hidden = !fields.length && !filter.value;
  filter.placeholder = fields.map(([name, field]) => name + (field.type === "number" ? ">=2020" : "=en")).join(", ");
  at("example-queries").replaceChildren(...collection.example_queries.map((query) => element("li", {},
    element("a", { href: `?${new URLSearchParams({ q: query })}`, lang, dir: "auto" }, query))));
  at("examples").hidden = Boolean(box.value) || !collection.example_queries.length;
  showVersions(collection);
}

const ofAddress = (name) => (new URLSearchParams(location.search).get(name) ?? "").trim();
const parameters = (query, where) => ({ q: query, ...(where ? { where } : {}) });

function readAddress() {
  box.value = ofAddress("q");
  filter.value = ofAddress("where");
}

form.addEventListener("submit", (event) => {
  event.preventDefault();
  const query = box.value.trim(), where = filter.value.trim();
  if (query !== ofAddress("q") || where !== ofAddress("where")) {
    history.pushState(null, "", query ? `?${new URLSearchParams(parameters(query, where))}` : "./");
  }
  if (matchMedia("(pointer: coarse)").matches) box.blur(); // so that a phone's keyboard gives way to the results
  search(query, where);
});

at("more").addEventListener("click", () => search(shown.query, shown.where, Math.min(shown.k + PAGE, collection?.most_k ?? Infinity)));

addEventListener("popstate", () => {
  readAddress();
  search(box.value, filter.value);
});

addEventListener("keydown", (event) => {
  const isTyping = event.target.matches("input, textarea, select") || event.target.isContentEditable;
  if (event.key === "/" && !isTyping && !event.ctrlKey && !event.metaKey && !event.altKey) {
    event.preventDefault();
    box.focus();
    box.select();
  }
});

async function begin() {
  readAddress();
  if (!box.value) box.focus();
  try {
    collection = await ask("v1/collection", {});
    showCollection();
  } catch (error) {
    if (!box.value) showProblem(error, begin);
  }
  if (box.value) search(box.value, filter.value);
}

begin();
