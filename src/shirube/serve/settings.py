"""How to serve over HTTP, from the environment. What would let somebody in by mistake is refused at the start."""

import ipaddress
import os
from collections.abc import Mapping
from dataclasses import dataclass, field
from functools import lru_cache
from urllib.parse import urlsplit

from shirube.errors import InvalidInput

ALGORITHMS = ("RS256", "ES256", "EdDSA")
_SHORTEST_SECRET = 32
_REQUESTS_A_CALL = 5


@dataclass(frozen=True)
class Rate:
    """So many calls a second, and so many at once after a pause."""

    per_second: float
    burst: float


@dataclass(frozen=True)
class JwtSettings:
    """How tokens are checked. `algorithms` are for keys of the JWKS; a secret is for HS256 alone."""

    audience: str
    issuer: str
    jwks: str | None = None
    secret: str | None = field(default=None, repr=False)
    algorithms: tuple[str, ...] = ALGORITHMS


@dataclass(frozen=True)
class ServeSettings:
    host: str = "127.0.0.1"
    port: int = 8000
    insecure_local: bool = False
    public_url: str | None = None
    hosts: tuple[str, ...] = ()
    proxies: str = ""
    """Whose word is taken for the address that a request came from."""
    origins: tuple[str, ...] = ()
    jwt: JwtSettings | None = None
    rate: Rate = Rate(10, 20)
    anonymous_rate: Rate = Rate(1, 5)
    concurrency: int | None = None
    """How many calls are worked on at a time; where nothing is said, as many as pay."""
    queue: int = 8
    conformance: bool = False

    @property
    def request_rate(self) -> Rate:
        """Of requests of any kind: an agent sends several for a call."""
        return Rate(self.rate.per_second * _REQUESTS_A_CALL, self.rate.burst * _REQUESTS_A_CALL)

    @property
    def resource(self) -> str:
        """What tokens are for (RFC 9728)."""
        return f"{(self.public_url or self.address).rstrip('/')}/mcp"

    @property
    def address(self) -> str:
        """Where the server listens; an address of IPv6 stands in brackets."""
        host = f"[{self.host}]" if ":" in self.host else self.host
        return f"http://{host}:{self.port}"


def serve_settings(environ: Mapping[str, str] = os.environ) -> ServeSettings:
    host = environ.get("SHIRUBE_HOST") or ServeSettings.host
    insecure = environ.get("SHIRUBE_INSECURE_LOCAL") == "1"
    if insecure and not is_loopback(host):
        raise InvalidInput(
            "--insecure-local is for 127.0.0.1, ::1 and localhost only",
            "--insecure-local は 127.0.0.1・::1・localhost でだけ使えます。",
            hint="ほかのアドレスではトークンが必要です。 Other addresses need tokens: see docs/serving.md.",
        )
    return ServeSettings(
        host=host,
        port=_whole(environ, "SHIRUBE_PORT", ServeSettings.port, 0, 65535),
        insecure_local=insecure,
        public_url=_url(environ, "SHIRUBE_PUBLIC_URL"),
        proxies=environ.get("SHIRUBE_TRUSTED_PROXIES", "").strip(),
        hosts=_listed(environ, "SHIRUBE_ALLOWED_HOSTS"),
        origins=_listed(environ, "SHIRUBE_ALLOWED_ORIGINS"),
        jwt=_jwt(environ),
        rate=_rate(environ, "SHIRUBE_RATE", ServeSettings.rate),
        anonymous_rate=_rate(environ, "SHIRUBE_ANONYMOUS_RATE", ServeSettings.anonymous_rate),
        concurrency=_whole(environ, "SHIRUBE_CONCURRENCY", 0, 1, 1000) or None,
        queue=_whole(environ, "SHIRUBE_QUEUE", ServeSettings.queue, 0, 10_000),
        conformance=environ.get("SHIRUBE_CONFORMANCE") == "1",
    )


@lru_cache(256)
def is_loopback(host: str) -> bool:
    if host == "localhost":
        return True
    try:
        return ipaddress.ip_address(host).is_loopback
    except ValueError:
        return False


def _jwt(environ: Mapping[str, str]) -> JwtSettings | None:
    jwks, secret = environ.get("SHIRUBE_JWKS") or None, environ.get("SHIRUBE_JWT_SECRET") or None
    if jwks is None and secret is None:
        return None
    if secret is not None and len(secret.encode()) < _SHORTEST_SECRET:
        raise _wrong(
            "SHIRUBE_JWT_SECRET", f"at least {_SHORTEST_SECRET} bytes", f"{_SHORTEST_SECRET} バイト以上"
        )
    audience, issuer = environ.get("SHIRUBE_JWT_AUDIENCE"), environ.get("SHIRUBE_JWT_ISSUER")
    if not audience or not issuer:
        raise InvalidInput(
            "SHIRUBE_JWT_AUDIENCE and SHIRUBE_JWT_ISSUER are needed with SHIRUBE_JWKS or SHIRUBE_JWT_SECRET",
            "SHIRUBE_JWKS または SHIRUBE_JWT_SECRET には、SHIRUBE_JWT_AUDIENCE と SHIRUBE_JWT_ISSUER も必要です。",
        )
    if jwks is not None and "://" in jwks and not _may_be_fetched(jwks):
        raise _wrong("SHIRUBE_JWKS", "a file or an https:// address", "ファイルか https:// のアドレス")
    algorithms = _listed(environ, "SHIRUBE_JWT_ALGORITHMS") or ALGORITHMS
    if not set(algorithms) <= set(ALGORITHMS):
        raise _wrong("SHIRUBE_JWT_ALGORITHMS", f"of {', '.join(ALGORITHMS)}", f"{'・'.join(ALGORITHMS)} から")
    return JwtSettings(audience, issuer, jwks, secret, tuple(algorithms))


def _may_be_fetched(url: str) -> bool:
    parts = urlsplit(url)
    return parts.scheme == "https" or (parts.scheme == "http" and is_loopback(parts.hostname or ""))


def _url(environ: Mapping[str, str], name: str) -> str | None:
    url = environ.get(name) or None
    if url is not None and (urlsplit(url).scheme not in ("http", "https") or not urlsplit(url).hostname):
        raise _wrong(name, "an address such as https://shirube.example.jp", "https:// で始まるアドレス")
    return url


def _rate(environ: Mapping[str, str], name: str, default: Rate) -> Rate:
    written = environ.get(name)
    if not written:
        return default
    try:
        per_second, burst = (float(each) for each in written.split("/"))
        if not (0 < per_second < 1e6 and 1 <= burst < 1e6):
            raise ValueError
        return Rate(per_second, burst)
    except ValueError:
        raise _wrong(
            name, "calls a second and burst, such as 10/20", "毎秒の回数と一度の上限（10/20 など）"
        ) from None


def _whole(environ: Mapping[str, str], name: str, default: int, least: int, most: int) -> int:
    written = environ.get(name)
    if not written:
        return default
    if not written.isdecimal() or not least <= int(written) <= most:
        raise _wrong(name, f"a whole number from {least} to {most}", f"{least}〜{most} の整数")
    return int(written)


def _listed(environ: Mapping[str, str], name: str) -> tuple[str, ...]:
    return tuple(each.strip() for each in environ.get(name, "").split(",") if each.strip())


def _wrong(name: str, expected: str, ja: str) -> InvalidInput:
    return InvalidInput(f"{name} must be {expected}", f"{name} は{ja}で指定してください。")
