"""Pages in a real browser: Debian's Chromium, headless, driven by Playwright."""

import shutil
from contextlib import contextmanager

import pytest

CHROMIUM = next(
    (path for name in ("chromium", "chromium-browser", "google-chrome") if (path := shutil.which(name))), None
)

# It renders files of ours and nothing else: no sandbox of its own (CI is root in a container), no network at all.
FLAGS = (
    "--no-sandbox", "--disable-gpu", "--disable-quic", "--no-first-run", "--disable-background-networking",
    "--disable-component-update", "--disable-sync",
)  # fmt: skip
NOWHERE = "--host-resolver-rules=MAP * ~NOTFOUND"
ONLY_LOOPBACK = f"{NOWHERE}, EXCLUDE 127.0.0.1"

# Elements that are wider than the page and don't lie in a box that scrolls, or in others that are named.
TOO_WIDE = """named => [...document.querySelectorAll('body *')].filter(element => {
    if (element.closest(['.visually-hidden, .skip, .scroll, pre', ...named].join())) return false
    const box = element.getBoundingClientRect()
    return box.width > 0 && (box.right > innerWidth + 1 || box.left < -1)
}).map(element => element.outerHTML.slice(0, 80))"""

# Texts whose contrast with what is behind them is below WCAG's 4.5 (3 for large text).
TOO_PALE = """() => {
    const channels = text => (text.match(/[\\d.]+/g) || []).map(Number)
    const luminance = ([r, g, b]) => [r, g, b].map(value => value / 255)
        .map(value => value <= 0.04045 ? value / 12.92 : ((value + 0.055) / 1.055) ** 2.4)
        .reduce((sum, value, index) => sum + value * [0.2126, 0.7152, 0.0722][index], 0)
    const behind = element => {
        for (; element; element = element.parentElement) {
            const colour = channels(getComputedStyle(element).backgroundColor)
            if (colour.length === 3 || colour[3] === 1) return colour
        }
        return [255, 255, 255]
    }
    const wrong = []
    for (const element of document.querySelectorAll('body *')) {
        const own = [...element.childNodes].some(node => node.nodeType === 3 && node.textContent.trim())
        const seen = element.localName !== 'title' && !element.disabled && element.getBoundingClientRect().width
        if (!own || !seen) continue
        const style = getComputedStyle(element)
        const svg = element instanceof SVGElement
        const [one, other] = [luminance(channels(svg ? style.fill : style.color)), luminance(behind(element))]
        const contrast = (Math.max(one, other) + 0.05) / (Math.min(one, other) + 0.05)
        const least = parseFloat(style.fontSize) >= 24 ? 3 : 4.5
        if (contrast < least) wrong.push([element.outerHTML.slice(0, 80), contrast])
    }
    return wrong
}"""


class Viewer:
    """A browser that remembers what pages complained about and what they asked for.

    A page is there when an element that `ready` selects is. Pages are files, or addresses of a server at loopback.
    """

    def __init__(self, context, ready):
        self.ready = ready
        self.tab = context.pages[0]
        self.told, self.asked = [], []
        self.tab.on("console", lambda message: self.told.append(message.text))
        self.tab.on("pageerror", lambda error: self.told.append(str(error)))
        self.tab.on("request", lambda request: self.asked.append(request.url))

    def show(self, page, width=1280, scheme="light"):
        self.told.clear()
        self.asked.clear()
        self.tab.emulate_media(color_scheme=scheme, media="screen")
        self.tab.set_viewport_size({"width": width, "height": 900})
        self.tab.goto(page if isinstance(page, str) else page.as_uri())
        self.tab.wait_for_selector(self.ready)
        return self.tab


@contextmanager
def viewing(profile, ready="html", loopback=False):
    """A viewer with a profile in an empty folder; without Playwright or Chromium the test is skipped.

    With `loopback` it reaches servers at 127.0.0.1, and still nothing else.
    """
    playwright = pytest.importorskip("playwright.sync_api", reason="playwright: not installed")
    if CHROMIUM is None:
        pytest.skip("Chromium: not installed (Debian: chromium)")
    with playwright.sync_playwright() as driver:
        context = driver.chromium.launch_persistent_context(
            profile,
            executable_path=CHROMIUM,
            headless=True,
            args=[*FLAGS, ONLY_LOOPBACK if loopback else NOWHERE],
            offline=not loopback,
        )
        yield Viewer(context, ready)
        context.close()
