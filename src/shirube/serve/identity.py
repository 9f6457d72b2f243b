"""Who is at the door, and what they may use. Whoever cannot show it is nobody."""

import json
import logging
import threading
import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import jwt
from sqlalchemy.exc import OperationalError

from shirube.caller import LOCAL, Caller, claimed
from shirube.errors import AccessDenied, Unauthenticated
from shirube.serve.settings import JwtSettings
from shirube.store.database import Database
from shirube.store.keys import PREFIX, Key, find_key

log = logging.getLogger(__name__)

EVERYTHING = "*"
_LEEWAY_SECONDS = 60
_LONGEST_TOKEN = 16_384
# Keys are asked for again after so long; for a key nobody knows, not more often than that.
_FRESH_SECONDS, _RETRY_SECONDS = 600.0, 30.0
_FETCH_SECONDS, _LARGEST_SET = 5.0, 1_000_000
_SMALLEST_RSA = 2048


@dataclass(frozen=True)
class Identity:
    """A caller with the toolsets that the token opens. The local user is not limited: the machine is theirs."""

    caller: Caller
    scopes: frozenset[str]
    is_limited: bool = True

    def opens(self, toolset: str) -> bool:
        return bool(self.scopes & {EVERYTHING, toolset})

    def check(self, toolset: str) -> None:
        if not self.opens(toolset):
            raise AccessDenied(
                f"The token does not open {toolset}",
                f"このトークンでは {toolset} を使えません。",
                hint=f"scope に {toolset} を入れてください。 Ask for the scope {toolset}.",
            )


AT_HOME = Identity(LOCAL, frozenset({EVERYTHING}), is_limited=False)


class Door:
    """Tokens to identities: API keys by the store, JWTs by the settings."""

    def __init__(self, database: Callable[[], Database], settings: JwtSettings | None) -> None:
        self._database = database
        self._settings = settings
        self._keys = KeySet(settings.jwks) if settings and settings.jwks else None

    def identify(self, authorization: str | None) -> Identity:
        """Whom the header names, or Unauthenticated. It may read a file, the store or an address, so it blocks."""
        scheme, _, token = (authorization or "").partition(" ")
        token = token.strip()
        if scheme.lower() != "bearer" or not token:
            raise Unauthenticated(
                "Authorization: Bearer トークン を付けてください。 Send Authorization: Bearer."
            )
        if len(token) > _LONGEST_TOKEN:
            raise Unauthenticated("トークンが長すぎます。 The token is too long.")
        return self._by_key(token) if token.startswith(PREFIX) else self._by_jwt(token)

    def _by_key(self, token: str) -> Identity:
        try:
            key = self._found(token)
        except OperationalError:  # a connection that the server has closed is noticed by using it
            key = self._found(token)
        if key is None:
            raise Unauthenticated(
                "キーが無効か、期限切れか、取り消し済みです。 The key is unknown, expired or revoked."
            )
        return Identity(key.caller, key.scopes)

    def _found(self, token: str) -> Key | None:
        with self._database().read() as connection:
            return find_key(connection, token)

    def _by_jwt(self, token: str) -> Identity:
        settings = self._settings
        if settings is None:
            raise Unauthenticated(
                "JWT は設定されていません。 Tokens other than API keys are not set up here."
            )
        try:
            header = jwt.get_unverified_header(token)
        except jwt.PyJWTError:
            raise _invalid() from None
        if "crit" in header:
            raise _invalid()
        claims = self._claims(token, header, settings)
        caller = claimed({name: value for name, value in claims.items() if name != "exp"})
        return Identity(caller, _scopes(claims))

    def _claims(self, token: str, header: Mapping[str, Any], settings: JwtSettings) -> Mapping[str, Any]:
        """The claims, if some key that is set up for this has signed them. What the token says of its own algorithm
        decides whether the secret or the key set is meant, and nothing else: each key has one."""
        key, algorithm = None, ""
        if settings.secret is not None and (header.get("alg") == "HS256" or not self._keys):
            key, algorithm = settings.secret, "HS256"
        elif self._keys and isinstance(header.get("kid"), str | None):
            key, algorithm = self._keys.find(header.get("kid")) or (None, "")
        if key is None or (algorithm != "HS256" and algorithm not in settings.algorithms):
            raise _invalid()
        try:
            claims: Mapping[str, Any] = jwt.decode(
                token,
                key,
                algorithms=[algorithm],
                audience=settings.audience,
                issuer=settings.issuer,
                leeway=_LEEWAY_SECONDS,
                options={"require": ["exp", "sub", "aud", "iss"]},
            )
        except jwt.ExpiredSignatureError:
            raise Unauthenticated("期限が切れています。 It has expired.") from None
        except (jwt.PyJWTError, ValueError, TypeError):
            raise _invalid() from None
        return claims


class KeySet:
    """The keys of a JWKS, from a file that is read again when it changes or an address that is asked again in time."""

    def __init__(self, source: str) -> None:
        self._source = source
        self._guard = threading.Lock()
        self._keys: list[tuple[str | None, Any, str]] = []
        self._read_at = float("-inf")
        self._stamp: tuple[int, int] | None = None

    def find(self, key_id: str | None) -> tuple[Any, str] | None:
        """The key of this id with its algorithm; without an id the only one there is."""
        self._refresh(_FRESH_SECONDS)
        found = self._named(key_id)
        if found is None:
            self._refresh(_RETRY_SECONDS)
            found = self._named(key_id)
        return found

    def _named(self, key_id: str | None) -> tuple[Any, str] | None:
        named = [(key, algorithm) for name, key, algorithm in self._keys if key_id is None or name == key_id]
        return named[0] if len(named) == 1 else None

    def _refresh(self, seconds: float) -> None:
        """One at a time; whoever finds their key at hand waits for nobody."""
        if "://" not in self._source:
            with self._guard:
                self._refresh_from_file()
        elif time.monotonic() - self._read_at > seconds and self._guard.acquire(blocking=not self._keys):
            try:
                if time.monotonic() - self._read_at > seconds:
                    self._read_at = time.monotonic()
                    self._keys = _public_keys(_fetched(self._source))
            except Exception as error:  # the keys at hand stay good
                log.warning("the key set cannot be fetched: %s", type(error).__name__)
            finally:
                self._guard.release()

    def _refresh_from_file(self) -> None:
        path = Path(self._source)
        try:
            stat = path.stat()
            stamp = (stat.st_mtime_ns, stat.st_size)
            if stamp != self._stamp:
                self._keys, self._stamp = _public_keys(path.read_bytes()), stamp
        except Exception as error:  # whatever stands in it
            log.warning("the key set cannot be read: %s", type(error).__name__)
            self._keys, self._stamp = [], None


def _fetched(url: str) -> bytes:
    import httpx2

    body = bytearray()
    with httpx2.stream("GET", url, timeout=_FETCH_SECONDS, follow_redirects=False) as response:
        response.raise_for_status()
        for chunk in response.iter_bytes():
            body += chunk
            if len(body) > _LARGEST_SET:
                raise ValueError("the key set is too large")
    return bytes(body)


def _public_keys(data: bytes) -> list[tuple[str | None, Any, str]]:
    """Keys for signatures, each with the one algorithm it is for; secrets in a key set are left alone."""
    found: list[tuple[str | None, Any, str]] = []
    for each in json.loads(data)["keys"]:
        if not isinstance(each, dict) or each.get("use", "sig") != "sig":
            continue
        match each.get("kty"), each.get("crv"):
            case "RSA", _:
                algorithm = "RS256"
            case "EC", "P-256":
                algorithm = "ES256"
            case "OKP", "Ed25519":
                algorithm = "EdDSA"
            case _:
                continue
        if each.get("alg", algorithm) not in (algorithm, "Ed25519" if algorithm == "EdDSA" else algorithm):
            continue
        try:
            key = jwt.PyJWK.from_dict({**each, "alg": algorithm}).key
            key = key.public_key() if hasattr(key, "public_key") else key
        except (jwt.PyJWTError, ValueError, TypeError):
            log.warning("a key of the key set cannot be read")
            continue
        if algorithm == "RS256" and key.key_size < _SMALLEST_RSA:
            log.warning("an RSA key of %d bits is not used", key.key_size)
            continue
        found.append((each.get("kid"), key, algorithm))
    return found


def _scopes(claims: Mapping[str, Any]) -> frozenset[str]:
    """`scope` as OAuth writes it, or `scp` as a list. A token that names none opens nothing."""
    written = claims.get("scope", claims.get("scp", ""))
    names = written.split() if isinstance(written, str) else written
    if not isinstance(names, list) or not all(isinstance(each, str) for each in names):
        raise _invalid()
    return frozenset(each.removeprefix("shirube:") for each in names)


def _invalid() -> Unauthenticated:
    return Unauthenticated("トークンが正しくありません。 The token is not valid here.")
