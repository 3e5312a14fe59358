"""How long a picture takes after a slider has moved, in a real browser.

python -m benchmarks.studio --json

A studio with 200 points and 300 positions along the axis: prior, exact process and network are
drawn again. `single` moves the slider and waits for the picture, `dragging` moves it 20 times a
second as a hand does; the time is that from the event of the slider to the frame with the new
picture, of the event or of a later one. Needs chromium and playwright.
"""

import argparse
import json
import os
import shutil
import subprocess
import sys
from typing import Any

import numpy as np
from playwright.sync_api import sync_playwright

NUM_ROWS = 200
DRAG = """async ({count, pause}) => {
    const slider = document.getElementById('lengthscale-0-0');
    const waiting = [], found = [], server = [];
    document.addEventListener('drawn', ({detail}) => {
        if (detail.atRest) return;
        server.push(detail.milliseconds);
        while (waiting.length && waiting[0].revision <= detail.revision) {
            found.push(performance.now() - waiting.shift().time);
        }
    });
    const wait = (time) => new Promise(done => setTimeout(done, time));
    for (let i = 0; i < count; i += 1) {
        slider.value = 300 + Math.round(250 * Math.sin(i / 9)) + (i % 2);
        const time = performance.now();
        slider.dispatchEvent(new Event('input', {bubbles: true}));
        waiting.push({time, revision: Number(document.body.dataset.revision)});
        if (pause) await wait(pause);
        else while (waiting.length) await wait(4);
    }
    while (waiting.length) await wait(4);
    return {found, server};
}"""


def workspace() -> dict[str, Any]:
    """A season on a trend, and points that were clicked."""
    random = np.random.default_rng(0)
    x = np.sort(random.uniform(0, 10, NUM_ROWS))
    y = np.sin(3 * x) + 0.3 * x + 0.1 * random.normal(size=NUM_ROWS)
    return {"x": x[:, None].tolist(), "y": y.tolist()}


def measured(address: str, count: int) -> dict[str, Any]:
    """Times in the browser, in milliseconds, for priors of one block and of three."""
    place = shutil.which("chromium") or shutil.which("chromium-browser")
    found: dict[str, Any] = {"rows": NUM_ROWS, "positions": 300}
    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=place, args=["--no-sandbox"])
        page = browser.new_page(viewport={"width": 1360, "height": 860})
        page.goto(address)
        page.wait_for_selector("body[data-ready]")
        for preset in ("smooth", "seasonal_with_trend"):
            page.click(f"#preset-{preset}")
            page.wait_for_timeout(500)
            page.evaluate(
                "async (rows) => { const {store} = await import('./store.js');"
                "store.change((w) => { w.rows = rows; w.source = {kind: 'points'}; }); }",
                workspace(),
            )
            page.wait_for_timeout(2000)
            page.evaluate(DRAG, {"count": 5, "pause": 0})  # what is loaded once
            for name, pause in (("single", 0), ("dragging", 50)):
                times = page.evaluate(DRAG, {"count": count, "pause": pause})
                found[f"{preset}_{name}"] = _summary(times)
        browser.close()
    return found


def _summary(times: dict[str, list[float]]) -> dict[str, float]:
    values, server = np.array(times["found"]), np.array(times["server"])
    return {
        "median_ms": round(float(np.median(values)), 1),
        "p95_ms": round(float(np.quantile(values, 0.95)), 1),
        "server_median_ms": round(float(np.median(server)), 1),
        "events": len(values),
    }


def main() -> None:
    """Print medians and 95th percentiles."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--count", type=int, default=150, help="moves of the slider")
    parser.add_argument("--json", action="store_true", help="print one JSON object")
    arguments = parser.parse_args()
    command = [sys.executable, "-m", "gfsvi.cli", "studio"]
    with subprocess.Popen(
        command, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True
    ) as process:
        try:
            assert process.stdout is not None
            address = process.stdout.readline().removeprefix("studio: ").strip()
            load = os.getloadavg()[0]
            found = measured(address, arguments.count) | {"load_before": round(load, 2)}
        finally:
            process.terminate()
    print(json.dumps(found) if arguments.json else json.dumps(found, indent=1))


if __name__ == "__main__":
    main()
