"""The page, in a real browser."""

import os
import re
from collections.abc import Iterator
from pathlib import Path

import pytest
from playwright.sync_api import Browser, Page, Route, expect, sync_playwright

from models.lists.feedback import Feedback
from smooth_clir.retrieval.engine import Languages
from smooth_clir.retrieval.folder_engines import FolderEngines
from smooth_clir.retrieval.index_versions import IndexVersions
from smooth_clir.retrieval.update_index import IndexUpdater
from tests.serving.live_service import LiveService, live_service
from tests.serving.searchable import ATTACK, DOCUMENTS, EXAMPLES, FOREIGN, export_searchable, index_documents

CHROMIUM = Path("/usr/bin/chromium")
pytestmark = [
    pytest.mark.stages,
    pytest.mark.skipif(not CHROMIUM.exists(), reason="needs Debian's chromium: `apt-get install chromium`"),
    # axe-playwright-python reads its bundled script so.
    pytest.mark.filterwarnings("ignore:.*importlib.*:DeprecationWarning"),
]

LIMIT = 60
expect.set_options(timeout=30_000)  # a machine that other tests keep busy needs more than the 5 s that it has by itself


@pytest.fixture(scope="module")
def live(searchable: Path) -> Iterator[LiveService]:
    source = FolderEngines(str(searchable / "serving"), str(searchable / "index"), None, Languages("en", "fr"))
    with live_service(source, most_query_characters=LIMIT) as service:
        yield service


@pytest.fixture(scope="module")
def browser() -> Iterator[Browser]:
    with sync_playwright() as playwright:
        # Chromium's own sandbox refuses to start for root, which is who runs the tests in many containers.
        sandbox = [] if os.getuid() else ["--no-sandbox"]
        browser = playwright.chromium.launch(executable_path=str(CHROMIUM), args=sandbox)
        yield browser
        browser.close()


@pytest.fixture
def page(browser: Browser, live: LiveService, request: pytest.FixtureRequest) -> Iterator[Page]:
    (width, height), scheme = getattr(request, "param", ((1280, 800), "light"))
    context = browser.new_context(viewport={"width": width, "height": height}, color_scheme=scheme, base_url=live.url)
    page = context.new_page()
    faults: list[str] = []
    page.on("pageerror", lambda error: faults.append(str(error)))
    page.on("console", lambda message: faults.append(message.text) if "Content Security" in message.text else None)
    yield page
    context.close()
    assert faults == []


def search(page: Page, query: str) -> None:
    page.get_by_role("searchbox").fill(query)
    page.keyboard.press("Enter")


def results(page: Page) -> list[str]:
    """The titles of the results, once those of an earlier query are gone."""
    expect(page.locator("#found")).not_to_have_attribute("aria-busy", "true")
    expect(page.locator(".result").first).to_be_visible()
    return page.locator(".result h2").all_inner_texts()


def number(text: str) -> float:
    """A number as the page writes it."""
    return float(text.replace("−", "-"))


def test_typing_a_query_shows_its_results_best_first(page: Page, live: LiveService) -> None:
    page.goto("/")
    expect(page.get_by_role("searchbox")).to_be_focused()
    expect(page.locator("#collection")).to_have_text("5 documents in French, queries in English")
    search(page, "white cat")
    answer = live.client.get("/v1/search?q=white+cat").json()
    assert results(page) == [hit["title"] for hit in answer["results"]]
    expect(page.get_by_role("status").first).to_contain_text("5 results of 5 documents, in")
    expect(page.locator("#versions")).to_have_text("Model 1 · index 1")
    expect(page.locator("mark").filter(has_text="chat").first).to_be_visible()
    for hit, shown in zip(answer["results"], page.locator(".result").all(), strict=True):
        assert number(shown.locator(".total strong").inner_text().split()[-1]) == round(hit["score"], 3)
        share = round(100 * hit["relevant_share"]) or "<1"
        assert shown.locator(".relevant").inner_text().endswith(f" relevant, {share} %")
    expect(page.locator(".no-answer")).to_have_count(0)


@pytest.mark.long
def test_an_index_with_fields_has_a_filter_which_the_address_and_the_explanation_keep(
    browser: Browser, tmp_path: Path
) -> None:
    export_searchable(tmp_path / "serving" / "1", feedback=Feedback(4.0, 2))
    documents = [document._replace(fields=(document.id[1:],)) for document in DOCUMENTS]
    IndexUpdater(str(tmp_path / "serving" / "1"), IndexVersions(tmp_path / "index")).replace_all(documents, ["number"])
    with live_service(FolderEngines(str(tmp_path / "serving"), str(tmp_path / "index"))) as live:
        page = browser.new_context(base_url=live.url).new_page()
        page.goto("/?q=white+cat")
        assert len(results(page)) == 5
        page.get_by_label("Filter").fill("number>=3")
        page.keyboard.press("Enter")
        expect(page.locator(".result")).to_have_count(3)
        assert page.url.endswith("?q=white+cat&where=number%3E%3D3")
        total = number(page.locator(".result .total strong").first.inner_text().split()[-1])
        page.locator("summary").first.click()
        (hit, *_) = live.client.get("/v1/search", params={"q": "white cat", "where": "number>=3"}).json()["results"]
        assert total == round(hit["score"], 3)
        expect(page.locator(".panel").first).to_contain_text(f"{hit['feedback']:.3f}")
        page.get_by_label("Filter").fill("size>3")
        page.keyboard.press("Enter")
        expect(page.locator(".problem")).to_contain_text("number (number)")
        page.go_back()
        expect(page.locator(".result")).to_have_count(3)
        page.go_back()
        expect(page.locator(".result")).to_have_count(5)
        expect(page.get_by_label("Filter")).to_have_value("")


@pytest.mark.long
def test_the_start_offers_queries_of_the_collection(page: Page) -> None:
    page.goto("/")
    offered = page.get_by_role("region", name="Example queries").get_by_role("link")
    expect(offered).to_have_text(EXAMPLES[:2])  # the third is longer than a query may be
    offered.first.click()
    expect(page.get_by_role("searchbox")).to_have_value(EXAMPLES[0])
    assert results(page)
    expect(page.get_by_role("region", name="Example queries")).to_be_hidden()
    page.go_back()
    expect(page.get_by_role("region", name="Example queries")).to_be_visible()


@pytest.mark.long
def test_a_query_without_a_good_answer_a_known_word_or_an_end_is_reported(page: Page) -> None:
    status = page.get_by_role("status").first
    page.goto("/?q=white+cat+zzzz")
    assert results(page)
    expect(status).to_contain_text("No good answer: the model knows 66.7 %")
    expect(page.locator(".relevant")).to_have_count(0)
    search(page, "zzzz")
    expect(status).to_contain_text("no word")
    expect(page.locator(".result")).to_have_count(0)
    search(page, "cat " * 40)
    expect(page.get_by_role("alert")).to_contain_text("60 characters; this one has 159")
    expect(page.locator(".result")).to_have_count(0)


@pytest.mark.long
def test_the_address_holds_the_query_and_back_brings_the_former_one(page: Page) -> None:
    page.goto("/")
    search(page, "white cat")
    first = results(page)
    search(page, "moon over ararat")
    expect(page.locator(".result h2").first).to_have_text("Ararat")
    assert page.url.endswith("?q=moon+over+ararat")
    page.go_back()
    expect(page.get_by_role("searchbox")).to_have_value("white cat")
    expect(page.locator(".result h2").first).to_have_text(first[0])
    page.reload()
    assert results(page) == first


def test_markup_of_documents_and_queries_is_shown_as_text_and_does_nothing(page: Page) -> None:
    page.goto("/?q=white+cat")
    assert ATTACK in results(page)
    attacked = page.locator(".result").filter(has=page.locator("h2", has_text="<script>"))
    attacked.locator("summary").click()
    expect(attacked.locator(".whole")).to_contain_text("onerror")
    assert page.locator("main img, main script").count() == 0
    assert page.title() == "white cat – Smooth CLIR"
    search(page, "<img src=x onerror=alert(1)> cat")
    results(page)
    page.locator("summary").first.click()
    expect(page.locator(".sum").first).to_be_visible()
    assert page.locator("main img").count() == 0


@pytest.mark.long
def test_text_from_right_to_left_runs_so(page: Page) -> None:
    direction = "element => getComputedStyle(element).direction"
    page.goto("/?q=white+cat")
    results(page)
    arabic = page.locator(".result").filter(has=page.locator("h2", has_text="قط"))
    assert [arabic.locator(part).evaluate(direction) for part in ("h2", ".snippet")] == ["rtl", "rtl"]
    assert page.locator(".result h2").first.evaluate(direction) == "ltr"
    search(page, "قط")
    assert page.get_by_role("searchbox").evaluate(direction) == "rtl"


@pytest.mark.long
def test_why_shows_shares_that_add_up_to_the_score(page: Page, live: LiveService) -> None:
    page.goto("/?q=white+cat")
    results(page)
    best = live.client.get("/v1/search?q=white+cat&k=1").json()["results"][0]
    page.locator("summary").first.click()
    panel = page.locator(".panel").first
    expect(panel.locator("table").first).to_be_visible()
    vectors, _, _, words, _, _, total = panel.locator(".sum").inner_text().split()
    assert number(vectors) + number(words) == pytest.approx(number(total), abs=1e-9)
    assert number(total) == pytest.approx(best["score"], abs=1e-4)
    for table, part in zip(panel.locator("table").all(), (words, vectors), strict=True):
        numbers = map(number, filter(None, table.locator("tbody tr > td:last-child").all_inner_texts()))
        assert sum(numbers) == pytest.approx(number(part), abs=1e-9)
        assert number(table.locator("tfoot td").inner_text()) == number(part)
    expect(panel).to_contain_text("without a word, those of the others would change, too")
    expect(panel).to_contain_text("% are relevant, as measured on judged queries")


@pytest.fixture(scope="module")
def with_encoder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A run's output whose model has an encoder."""
    folder = tmp_path_factory.mktemp("with_encoder")
    (folder / "index").mkdir()
    export_searchable(folder / "serving" / "1", has_encoder=True)
    index_documents(folder / "serving" / "1", folder / "index" / "1")
    return folder


def test_a_channel_without_shares_has_one_row_and_no_word_gets_its_part(page: Page, with_encoder: Path) -> None:
    source = FolderEngines(str(with_encoder / "serving"), str(with_encoder / "index"), None, Languages("en", "fr"))
    with live_service(source) as live:
        page.goto(f"{live.url}/?q=white+cat")
        titles = results(page)
        long = titles.index("Chien")
        page.locator("summary").nth(long).click()
        panel = page.locator(".panel").nth(long)
        expect(panel.locator("table").first).to_be_visible()
        answer = live.client.get("/v1/search?q=white+cat").json()["results"][long]
        content = live.client.get("/v1/explain", params={"q": "white cat", "place": answer["place"]}).json()
        explanation = content["explanation"]
        parts = {part["name"]: part["part"] for part in explanation["parts"]}
        rows = panel.locator("table").nth(1).locator("tbody tr").all_inner_texts()
        shown = {row.split()[0]: number(row.split()[-1]) for row in rows}
        assert explanation["without_shares"] == ["encoder"]
        assert shown.pop("encoder") == pytest.approx(parts["encoder"], abs=1e-4)
        assert sum(shown.values()) == pytest.approx(parts["smooth_cosine"], abs=2e-4)
        together = number(panel.locator("table").nth(1).locator("tfoot td").inner_text())
        assert together == pytest.approx(parts["smooth_cosine"] + parts["encoder"], abs=1e-4)


def test_the_second_pass_is_a_part_of_its_own_and_the_shown_parts_add_up(page: Page, tmp_path: Path) -> None:
    export_searchable(tmp_path / "serving" / "1", feedback=Feedback(4.0, 3))
    (tmp_path / "index").mkdir()
    index_documents(tmp_path / "serving" / "1", tmp_path / "index" / "1")
    source = FolderEngines(str(tmp_path / "serving"), str(tmp_path / "index"), None, Languages("en", "fr"))
    with live_service(source) as live:
        page.goto(f"{live.url}/?q=white+cat")
        results(page)
        expect(page.locator("#legend")).to_contain_text("similar to the first documents found")
        for hit, shown in zip(
            live.client.get("/v1/search?q=white+cat").json()["results"], page.locator(".result").all(), strict=True
        ):
            parts = [number(text) for text in shown.locator(".score > .number").all_inner_texts()]
            assert sum(parts) == pytest.approx(round(hit["score"], 3), abs=1e-9)
            assert parts[-1] == round(hit["feedback"], 3)
        page.locator("summary").first.click()
        total = page.locator(".panel").first.locator(".sum")
        expect(total).to_contain_text("similar to the first documents")
        vectors, words, first, score = [number(text) for text in re.findall(r"[−\d.]+", total.inner_text())]
        assert vectors + words + first == pytest.approx(score, abs=1e-9)


def test_an_index_of_other_documents_shows_no_share_and_says_why(page: Page, searchable: Path, tmp_path: Path) -> None:
    (tmp_path / "index").mkdir()
    index_documents(searchable / "serving" / "1", tmp_path / "index" / "1", FOREIGN)
    source = FolderEngines(str(searchable / "serving"), str(tmp_path / "index"), None, Languages("en", "ar"))
    with live_service(source) as live:
        page.goto(f"{live.url}/?q=cat")
        results(page)
        expect(page.locator(".relevant")).to_have_count(0)
        expect(page.locator("#legend")).to_contain_text("of the terms are unknown to the model")
        page.locator("summary").first.click()
        expect(page.locator(".whole").first).to_be_visible()
        expect(page.locator(".panel").first).not_to_contain_text("as measured on judged queries")


def test_the_score_and_its_share_stand_on_one_line_however_likely(page: Page) -> None:
    def every_share(route: Route) -> None:
        """Shares that are shown in the longest words."""
        content = route.fetch().json()
        for hit, share in zip(content["results"], (0.001, 0.15, 0.4, 0.7, 0.999), strict=True):
            hit.update(relevant_share=share, score=-12.345)
        route.fulfill(json=content)

    page.route("**/v1/search*", every_share)
    page.goto("/?q=white+cat")
    results(page)
    for total in page.locator(".total").all():
        score, share = (total.locator(part).bounding_box() for part in ("strong", ".relevant"))
        assert score and share
        assert max(score["height"], share["height"]) < 32  # less than two lines
        assert score["y"] < share["y"] + share["height"] and share["y"] < score["y"] + score["height"]


@pytest.mark.long
def test_words_beyond_the_limit_are_shown_as_unscored(page: Page) -> None:
    def cut(route: Route) -> None:
        """The model of the tests has no limit: the last words are marked as beyond one."""
        content = route.fetch().json()
        words = content["explanation"]["words"]
        words[200:] = [{**word, "dense": 0.0, "lexicon": 0.0, "is_scored": False} for word in words[200:]]
        route.fulfill(json=content)

    page.route("**/v1/explain*", cut)
    page.goto("/?q=white+dog")
    results(page)
    long = page.locator(".result").filter(has=page.locator("h2", has_text="Chien"))
    long.locator("summary").click()
    expect(long.locator(".unscored")).to_contain_text("neige")
    notice = "[not scored, for it lies beyond the limit on a text:] "
    expect(long.locator(".whole")).to_contain_text(notice.strip())
    (text,) = (document.text for document in DOCUMENTS if document.id == "d2")
    assert long.locator(".whole").inner_text().replace(notice, "").split() == text.split()


@pytest.mark.long
def test_the_keyboard_is_enough(page: Page) -> None:
    page.goto("/?q=white+cat")
    results(page)
    page.locator("h1 a").focus()
    page.keyboard.press("/")
    expect(page.get_by_role("searchbox")).to_be_focused()
    page.keyboard.type("moon over ararat")  # the former query was selected
    page.keyboard.press("Enter")
    expect(page.locator(".result h2").first).to_have_text("Ararat")
    page.keyboard.press("Tab")
    expect(page.get_by_role("button", name="Search")).to_be_focused()
    page.keyboard.press("Tab")
    expect(page.locator("summary").first).to_be_focused()
    page.keyboard.press("Enter")
    expect(page.locator(".sum").first).to_be_visible()


@pytest.mark.long
def test_what_the_service_cannot_do_is_said_with_the_way_out(page: Page) -> None:
    alert = page.locator("#problem")
    page.goto("/?q=white+cat")
    results(page)
    page.route("**/v1/explain*", lambda route: route.fulfill(status=404, json={"error": "version 2. Search again."}))
    page.locator("summary").first.click()
    expect(page.locator(".panel").first).to_contain_text("version 2. Search again.")
    page.route("**/v1/search*", lambda route: route.abort())
    search(page, "white dog")
    expect(alert).to_contain_text("does not answer")
    page.unroute("**/v1/search*")
    page.get_by_role("button", name="Try again").click()
    expect(page.locator(".result").first).to_be_visible()
    expect(alert).to_be_empty()
    busy = {"status": 503, "headers": {"retry-after": "5"}, "json": {"error": "the service is full."}}
    page.route("**/v1/search*", lambda route: route.fulfill(**busy))
    search(page, "moon")
    expect(alert).to_contain_text("busy")
    expect(alert).to_contain_text("5 seconds")


@pytest.mark.long
def test_an_answer_to_an_older_query_comes_too_late(page: Page) -> None:
    page.goto("/")
    routes = []
    page.route("**/v1/search?q=white+cat*", lambda route: routes.append(route))
    search(page, "white cat")
    page.wait_for_timeout(100)
    search(page, "moon over ararat")
    expect(page.locator(".result h2").first).to_have_text("Ararat")
    routes[0].continue_()
    page.wait_for_timeout(300)
    expect(page.locator(".result h2").first).to_have_text("Ararat")


@pytest.mark.long
@pytest.mark.parametrize(
    "page", [((1280, 800), "light"), ((400, 800), "dark")], indirect=True, ids=["desktop-light", "phone-dark"]
)
def test_axe_finds_nothing_serious_and_nothing_is_wider_than_the_window(page: Page) -> None:
    from axe_playwright_python.sync_playwright import Axe

    def check() -> None:
        violations = Axe().run(page).response["violations"]
        assert [violation for violation in violations if violation["impact"] in ("serious", "critical")] == []
        assert page.evaluate("document.documentElement.scrollWidth <= window.innerWidth")

    page.goto("/")
    expect(page.get_by_role("region", name="Example queries")).to_be_visible()
    check()
    search(page, "white cat")
    results(page)
    for row in range(5):
        page.locator("summary").nth(row).click()
        # What opens moves the next one: a click that falls into the move would miss it.
        expect(page.locator(".whole")).to_have_count(row + 1)
    check()
    search(page, "x" * 100)
    expect(page.get_by_role("alert")).to_contain_text("too long")
    check()
