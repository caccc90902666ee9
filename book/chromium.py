"""Launch a browser, and serve a folder as GitHub Pages does.

Files are compressed, are served below a path, and may be cached for ten minutes.
"""

import gzip
import http.server
import mimetypes
import os
import shutil
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from functools import cache
from pathlib import Path
from typing import Any
from urllib.parse import unquote, urlsplit

from playwright.sync_api import Browser, Error, Playwright

NAMES = ["chromium-headless-shell", "chromium", "chromium-browser"]
NAMES += ["google-chrome", "chrome", "msedge"]
FLAGS = [
    "--no-sandbox",
    "--disable-gpu",
    "--enable-unsafe-webgpu",  # WebGPU without a graphics card
    "--use-webgpu-adapter=swiftshader",
    "--disable-background-networking",
    "--disable-component-update",
    "--disable-sync",
    "--no-first-run",
]
PREFIX = "/some/sub/path/"
GZIP_LEVEL = 6
PACKED_ALREADY = {".png", ".jpg", ".jpeg", ".woff", ".woff2", ".zip"}


def installed() -> str | None:
    """Return the path of the first browser that is installed, or None."""
    return next(filter(None, map(shutil.which, NAMES)), None)


def launch(playwright: Playwright, fonts: Path | None = None) -> Browser | None:
    """Start a browser; return None if there is none.

    A browser on PATH comes first, then Chrome or Edge in their usual folders, then
    Playwright's own.

    Args:
        fonts: a settings file of fontconfig, which lists the fonts that the browser may
            use; None for the system's settings.
    """
    environment: dict[str, str | float | bool] = dict(os.environ)
    if fonts:
        environment["FONTCONFIG_FILE"] = str(fonts)
    path = installed()
    ways: list[dict[str, Any]] = [{"executable_path": path}] if path else []
    for way in [*ways, {"channel": "chrome"}, {"channel": "msedge"}, {}]:
        try:
            return playwright.chromium.launch(args=FLAGS, env=environment, **way)
        except Error:
            continue
    return None


@cache
def packed(file: Path) -> bytes:
    return gzip.compress(file.read_bytes(), GZIP_LEVEL, mtime=0)


class StaticHost(http.server.BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"
    folder: Path

    def do_GET(self) -> None:
        path = unquote(urlsplit(self.path).path)
        file = self.folder / path.removeprefix(PREFIX)
        if not path.startswith(PREFIX) or not file.is_file():
            self.send_error(404)
            return
        pack = file.suffix not in PACKED_ALREADY
        body = packed(file) if pack else file.read_bytes()
        kind = mimetypes.guess_type(file.name)[0] or "application/octet-stream"
        self.send_response(200)
        self.send_header("Content-Type", kind)
        self.send_header("Cache-Control", "max-age=600")
        self.send_header("Content-Length", str(len(body)))
        if pack:
            self.send_header("Content-Encoding", "gzip")
        self.end_headers()
        self.wfile.write(body)

    def log_message(self, *args: Any) -> None:
        pass


@contextmanager
def served(folder: Path) -> Iterator[str]:
    """Serve a folder, and yield its address, which ends with a slash."""
    handler = type("Host", (StaticHost,), {"folder": folder})
    server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), handler)
    threading.Thread(target=server.serve_forever, daemon=True).start()
    try:
        yield f"http://127.0.0.1:{server.server_port}{PREFIX}"
    finally:
        server.shutdown()
        server.server_close()
