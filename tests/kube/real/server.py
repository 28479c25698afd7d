"""A real etcd and a real kube-apiserver on free ports of this machine, with RBAC and without any controller."""

from __future__ import annotations

import contextlib
import json
import socket
import ssl
import subprocess
import sysconfig
import time
import urllib.error
import urllib.request
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from tests.kube.fake import write_kubeconfig

KUBECTL = Path(sysconfig.get_path("scripts")) / "kubectl"
ADMIN = "admin-token"


@dataclass(frozen=True)
class Login:
    """What a kubeconfig needs of a server."""

    url: str
    certificate: Path
    token: str


@dataclass(frozen=True)
class Server:
    admin: Login
    etcd_url: str
    folder: Path

    def kubectl(self, *arguments: str, given: str = "") -> str:
        """Run kubectl as admin."""
        config = write_kubeconfig(self.folder / "admin.kubeconfig", self.admin)
        command = [str(KUBECTL), f"--kubeconfig={config}", f"--cache-dir={self.folder / 'kubectl'}", *arguments]
        done = subprocess.run(command, input=given, capture_output=True, text=True, check=False)
        assert done.returncode == 0, done.stderr
        return done.stdout

    def login_of(self, account: str, namespace: str) -> Login:
        """Log in as a service account, with a token that the server makes."""
        token = self.kubectl("create", "token", account, f"--namespace={namespace}").strip()
        return Login(self.admin.url, self.admin.certificate, token)

    def compact(self) -> None:
        """Forget every state but the newest, as a cluster does every few minutes: continue tokens are then too old."""
        self.kubectl(
            "annotate", "namespace", "default", "--overwrite", f"compacted-at={time.monotonic_ns()}"
        )  # tokens of the newest state stay good
        revision = _etcd(self.etcd_url, "range", {"key": "AA=="})["header"]["revision"]
        _etcd(self.etcd_url, "compaction", {"revision": revision})


@contextlib.contextmanager
def running(folder: Path, program: str) -> Iterator[Server]:
    """Start both, wait until the API server is ready, and end them."""
    api_port, etcd_port, peer_port = _free_ports(3)
    etcd_url, peer_url = f"http://127.0.0.1:{etcd_port}", f"http://127.0.0.1:{peer_port}"
    certificate, key = _certificate(folder)
    login = Login(f"https://127.0.0.1:{api_port}", certificate, ADMIN)
    (folder / "tokens.csv").write_text(f"{ADMIN},admin,1,system:masters\n")
    with contextlib.ExitStack() as stack:
        stack.enter_context(
            _started(
                folder / "etcd.log",
                *("etcd", f"--data-dir={folder / 'etcd'}", "--unsafe-no-fsync"),
                *(f"--listen-client-urls={etcd_url}", f"--advertise-client-urls={etcd_url}"),
                *(f"--listen-peer-urls={peer_url}", f"--initial-advertise-peer-urls={peer_url}", f"--initial-cluster=default={peer_url}"),
            )
        )
        api_server = stack.enter_context(
            _started(
                folder / "kube-apiserver.log",
                *(program, f"--etcd-servers={etcd_url}", "--etcd-compaction-interval=0", "--authorization-mode=RBAC"),
                *("--bind-address=127.0.0.1", "--advertise-address=127.0.0.1", f"--secure-port={api_port}"),
                *(f"--tls-cert-file={certificate}", f"--tls-private-key-file={key}", f"--token-auth-file={folder / 'tokens.csv'}"),
                *(f"--service-account-key-file={key}", f"--service-account-signing-key-file={key}"),
                *("--service-account-issuer=https://kubernetes.default.svc", "--api-audiences=https://kubernetes.default.svc"),
                # nobody is there to make the default service account of a namespace
                *("--disable-admission-plugins=ServiceAccount", "--service-cluster-ip-range=10.96.0.0/16"),
            )
        )
        _wait(api_server, login, folder / "kube-apiserver.log")
        yield Server(login, etcd_url, folder)


@contextlib.contextmanager
def _started(log: Path, *command: str) -> Iterator[subprocess.Popen[bytes]]:
    with log.open("wb") as file:
        process = subprocess.Popen(command, stdout=file, stderr=file)
    try:
        yield process
    finally:
        process.kill()
        process.wait()


def _certificate(folder: Path) -> tuple[Path, Path]:
    """Make a certificate for 127.0.0.1 that is its own CA; its key also signs the tokens of service accounts."""
    certificate, key = folder / "tls.crt", folder / "tls.key"
    subject = ["-subj", "/CN=kube-apiserver", "-addext", "subjectAltName=IP:127.0.0.1"]
    new = ["-newkey", "rsa:2048", "-nodes", "-days", "2"]
    subprocess.run(["openssl", "req", "-x509", *new, *subject, "-keyout", key, "-out", certificate], check=True, capture_output=True)
    return certificate, key


def _wait(process: subprocess.Popen[bytes], login: Login, log: Path) -> None:
    until = time.monotonic() + 120
    while not _ready(login):
        if process.poll() is not None or time.monotonic() > until:
            raise RuntimeError(f"kube-apiserver did not start: {log.read_text(errors='replace')[-2000:]}")
        time.sleep(0.2)


def _ready(login: Login) -> bool:
    trust = urllib.request.HTTPSHandler(context=ssl.create_default_context(cafile=login.certificate))
    direct = urllib.request.build_opener(urllib.request.ProxyHandler({}), trust)
    try:
        with direct.open(f"{login.url}/readyz", timeout=5) as answer:
            return bool(answer.read() == b"ok")
    except urllib.error.HTTPError as error:
        error.close()
        return False
    except OSError:
        return False


def _etcd(url: str, action: str, body: object) -> dict[str, dict[str, str]]:
    direct = urllib.request.build_opener(urllib.request.ProxyHandler({}))
    with direct.open(f"{url}/v3/kv/{action}", json.dumps(body).encode(), timeout=10) as answer:
        return dict(json.load(answer))


def _free_ports(count: int) -> list[int]:
    with contextlib.ExitStack() as stack:
        sockets = [stack.enter_context(socket.socket()) for _ in range(count)]
        for each in sockets:
            each.bind(("127.0.0.1", 0))
        return [each.getsockname()[1] for each in sockets]
