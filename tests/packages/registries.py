"""Starts registries on the loopback interface, and publishes packages to them.

npm packages go to Verdaccio, gems to RubyGems' own static index, Python packages to a static index made by dumb-pypi.
"""

from __future__ import annotations

import contextlib
import functools
import hashlib
import http.server
import json
import shutil
import socket
import subprocess
import sys
import threading
import time
import urllib.request
from collections.abc import Iterable, Iterator
from pathlib import Path

HERE = Path(__file__).resolve().parent
LOOPBACK = "127.0.0.1"
START_SECONDS = 60

VERDACCIO = """
storage: {folder}/storage
packages:
  "**": {{access: $all, publish: $all, unpublish: $all}}
web: {{enable: false}}
max_body_size: 100mb
log: {{type: file, path: {folder}/log, level: warn}}
"""


class QuietHandler(http.server.SimpleHTTPRequestHandler):
    """Serves a folder without a line for each request."""

    def log_message(self, format: str, *arguments: object) -> None:
        pass


@contextlib.contextmanager
def serve(folder: Path) -> Iterator[str]:
    """Serves a folder and yields its address."""
    handler = functools.partial(QuietHandler, directory=str(folder))
    with http.server.ThreadingHTTPServer((LOOPBACK, 0), handler) as server:
        threading.Thread(target=server.serve_forever, daemon=True).start()
        yield f"http://{LOOPBACK}:{server.server_address[1]}"
        server.shutdown()


@contextlib.contextmanager
def python_index(packages: Iterable[Path], folder: Path) -> Iterator[str]:
    """Serves an index of wheels and source packages, with the hash of each, and yields its address."""
    pool = folder / "pool"
    pool.mkdir(parents=True)
    listed = []
    for package in packages:
        shutil.copy(package, pool)
        listed.append({"filename": package.name, "hash": f"sha256={hashlib.sha256(package.read_bytes()).hexdigest()}"})
    (folder / "list").write_text("\n".join(map(json.dumps, listed)))
    options = {"package-list-json": folder / "list", "packages-url": "../../pool/", "output-dir": folder}
    command = [sys.executable, "-m", "dumb_pypi.main", *(f"--{name}={value}" for name, value in options.items())]
    subprocess.run(command, check=True, stdout=subprocess.DEVNULL)
    with serve(folder) as address:
        yield f"{address}/simple/"


@contextlib.contextmanager
def ruby_index(packages: Iterable[Path], folder: Path) -> Iterator[str]:
    """Serves RubyGems' static index of gems, and yields its address."""
    (folder / "gems").mkdir(parents=True)
    for package in packages:
        shutil.copy(package, folder / "gems")
    subprocess.run(["gem", "generate_index", "--silent", "--directory", str(folder)], check=True)
    with serve(folder) as address:
        yield f"{address}/"


@contextlib.contextmanager
def js_registry(packages: Iterable[Path], folder: Path) -> Iterator[str]:
    """Starts Verdaccio, publishes npm packages to it in the given order, and yields its address."""
    folder.mkdir(parents=True)
    (folder / "config.yaml").write_text(VERDACCIO.format(folder=folder))
    with socket.socket() as probe:
        probe.bind((LOOPBACK, 0))
        place = f"{LOOPBACK}:{probe.getsockname()[1]}"
    program = [str(HERE / "node_modules/.bin/verdaccio"), "--config", str(folder / "config.yaml"), "--listen", place]
    server = subprocess.Popen(program, stdout=subprocess.DEVNULL, stderr=subprocess.STDOUT)
    try:
        wait_for(f"http://{place}/-/ping", server)
        # npm publishes only with a token; this registry lets everyone publish.
        (folder / ".npmrc").write_text(f"registry=http://{place}/\n//{place}/:_authToken=anyone\n")
        for package in packages:
            command = ["npm", "publish", "--silent", "--userconfig", str(folder / ".npmrc"), str(package)]
            subprocess.run(command, cwd=folder, check=True, stdout=subprocess.DEVNULL)
        yield f"http://{place}/"
    finally:
        server.terminate()
        server.wait()


def wait_for(address: str, server: subprocess.Popen[bytes]) -> None:
    """Waits until a server answers."""
    for _ in range(START_SECONDS * 10):
        with contextlib.suppress(OSError), urllib.request.urlopen(address):
            return
        assert server.poll() is None, "the registry has ended"
        time.sleep(0.1)
    raise AssertionError(f"{address} did not answer within {START_SECONDS} s")
