"""Who is let in over HTTP: keys, tokens, and forty ways of pretending."""

import base64
import hashlib
import hmac
import json
import threading
import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from datetime import timedelta
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any

import jwt
import pytest
from cryptography.hazmat.primitives import serialization
from cryptography.hazmat.primitives.asymmetric import ec, ed25519, rsa

from shirube.caller import LOCAL_TENANT, Caller, Confidentiality
from shirube.errors import InvalidInput
from shirube.serve.settings import JwtSettings, Rate, serve_settings
from shirube.store.clock import now
from shirube.store.keys import create_key, list_keys, revoke_key
from tests.serve.web import Web, office, serving

AUDIENCE, ISSUER = "https://shirube.example.jp", "https://login.example.jp"
SECRET = "とても長くて誰にも当てられない秘密の文字列です"
RSA = rsa.generate_private_key(public_exponent=65537, key_size=2048)
OTHER_RSA = rsa.generate_private_key(public_exponent=65537, key_size=2048)
SMALL_RSA = rsa.generate_private_key(public_exponent=65537, key_size=1024)
EC = ec.generate_private_key(ec.SECP256R1())
ED = ed25519.Ed25519PrivateKey.generate()


MADE: dict[str, Callable[[Any], Any]] = {
    "RS256": jwt.algorithms.RSAAlgorithm.to_jwk,
    "ES256": jwt.algorithms.ECAlgorithm.to_jwk,
    "EdDSA": jwt.algorithms.OKPAlgorithm.to_jwk,
}


def jwk(key: Any, algorithm: str, kid: str, **extra: str) -> dict[str, Any]:
    return {**json.loads(MADE[algorithm](key.public_key())), "kid": kid, "use": "sig", **extra}


JWKS = {
    "keys": [
        jwk(RSA, "RS256", "rsa"),
        jwk(EC, "ES256", "ec"),
        jwk(ED, "EdDSA", "ed"),
        jwk(SMALL_RSA, "RS256", "small"),
        jwk(OTHER_RSA, "RS256", "for-secrets", use="enc"),
        {"kty": "oct", "k": base64.urlsafe_b64encode(b"x" * 32).decode(), "kid": "oct"},
    ]
}


def claims(**changed: Any) -> dict[str, Any]:
    at = int(time.time())
    usual = {
        "iss": ISSUER,
        "aud": AUDIENCE,
        "sub": "hanako",
        "tenant_id": LOCAL_TENANT,
        "clearance": "internal",
        "departments": [],
        "roles": [],
        "scope": "knowledge answers",
        "iat": at,
        "exp": at + 600,
    }
    return {name: value for name, value in {**usual, **changed}.items() if value is not ...}


def signed(
    key: Any = RSA, algorithm: str = "RS256", kid: str | None = "rsa", header: Any = None, **changed: Any
) -> str:
    head = {**({"kid": kid} if kid else {}), **(header or {})}
    return jwt.encode(claims(**changed), key, algorithm=algorithm, headers=head)


def forged(head: dict[str, Any], body: dict[str, Any], signature: Callable[[bytes], bytes]) -> str:
    def part(value: Any) -> bytes:
        return base64.urlsafe_b64encode(json.dumps(value).encode()).rstrip(b"=")

    signing = part(head) + b"." + part(body)
    return (signing + b"." + base64.urlsafe_b64encode(signature(signing)).rstrip(b"=")).decode()


def public_pem() -> bytes:
    return RSA.public_key().public_bytes(
        serialization.Encoding.PEM, serialization.PublicFormat.SubjectPublicKeyInfo
    )


def by_hmac(key: bytes) -> Callable[[bytes], bytes]:
    return lambda signing: hmac.new(key, signing, hashlib.sha256).digest()


@pytest.fixture(scope="module")
def web(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Web]:
    folder = tmp_path_factory.mktemp("tokens")
    (folder / "jwks.json").write_text(json.dumps(JWKS))
    application, _ = office(folder)
    with application.workspace().database.write() as connection:
        from shirube.caller import LOCAL
        from shirube.store import bases

        [(base, _)] = bases.list_bases(connection, LOCAL)
        bases.share_base(connection, LOCAL, base.id, public=True)
    settings = JwtSettings(AUDIENCE, ISSUER, str(folder / "jwks.json"), SECRET)
    generous = Rate(10_000, 10_000)
    with serving(application, jwt=settings, rate=generous, anonymous_rate=generous) as made:
        yield made


def bearer(token: str) -> dict[str, str]:
    return {"Authorization": f"Bearer {token}"}


GOOD: dict[str, Callable[[], str]] = {
    "RS256": lambda: signed(),
    "ES256": lambda: signed(EC, "ES256", "ec"),
    "EdDSA": lambda: signed(ED, "EdDSA", "ed"),
    "HS256 with the secret": lambda: signed(SECRET, "HS256", None),
    "expired within the leeway": lambda: signed(exp=int(time.time()) - 30),
    "valid from within the leeway": lambda: signed(nbf=int(time.time()) + 30),
    "one of several audiences": lambda: signed(aud=["https://other.example", AUDIENCE]),
    "scopes with a prefix": lambda: signed(scope="shirube:knowledge"),
    "scopes as a list": lambda: signed(scope=..., scp=["knowledge"]),
    "a key's address in the header is not asked": lambda: signed(header={"jku": "http://127.0.0.1:1/jwks"}),
}

BAD: dict[str, Callable[[], str]] = {
    "no token at all": lambda: "x",
    "two dots": lambda: "..",
    "three parts of nonsense": lambda: "a.b.c",
    "expired": lambda: signed(exp=int(time.time()) - 120),
    "not yet valid": lambda: signed(nbf=int(time.time()) + 120),
    "no expiry": lambda: signed(exp=...),
    "an expiry that is a text": lambda: forged(
        {"alg": "HS256"}, claims(exp="tomorrow"), by_hmac(SECRET.encode())
    ),
    "another audience": lambda: signed(aud="https://other.example"),
    "no audience": lambda: signed(aud=...),
    "an empty audience": lambda: signed(aud=""),
    "another issuer": lambda: signed(iss="https://evil.example"),
    "no issuer": lambda: signed(iss=...),
    "an issuer that begins like ours": lambda: signed(iss=ISSUER + ".evil.example"),
    "no subject": lambda: signed(sub=...),
    "an empty subject": lambda: signed(sub=" "),
    "a subject that is a number": lambda: forged({"alg": "HS256"}, claims(sub=1), by_hmac(SECRET.encode())),
    "no tenant": lambda: signed(tenant_id=...),
    "an empty tenant": lambda: signed(tenant_id=""),
    "a tenant that is a list": lambda: signed(tenant_id=["local"]),
    "departments that are a text": lambda: signed(departments="人事"),
    "a clearance that there is not": lambda: signed(clearance="emperor"),
    "a clearance of true": lambda: signed(clearance=True),
    "roles that are a text": lambda: signed(roles="admin"),
    "another key under our name": lambda: signed(OTHER_RSA),
    "a key that nobody knows": lambda: signed(OTHER_RSA, kid="other"),
    "a key for secrets": lambda: signed(OTHER_RSA, kid="for-secrets"),
    "a key that is too small": lambda: signed(SMALL_RSA, kid="small"),
    "a secret that stands in the key set": lambda: signed(b"x" * 32, "HS256", "oct"),
    "no key named where there are several": lambda: signed(kid=None),
    "alg none": lambda: forged({"alg": "none", "kid": "rsa"}, claims(), lambda _: b""),
    "alg None": lambda: forged({"alg": "None"}, claims(), lambda _: b""),
    "alg nOnE without a signature": lambda: forged({"alg": "nOnE"}, claims(), lambda _: b""),
    "no alg": lambda: forged({"kid": "rsa"}, claims(), lambda _: b""),
    "the public key as a secret": lambda: forged(
        {"alg": "HS256", "kid": "rsa"}, claims(), by_hmac(public_pem())
    ),
    "an empty secret": lambda: forged({"alg": "HS256"}, claims(), by_hmac(b"")),
    "the secret in another algorithm": lambda: signed(SECRET, "HS512", None),
    "RS512 of our own key": lambda: signed(RSA, "RS512"),
    "PS256 of our own key": lambda: signed(RSA, "PS256"),
    "a signature of another body": lambda: ".".join(
        [*signed(sub="x").split(".")[:2], signed().split(".")[2]]
    ),
    "a signature cut short": lambda: signed()[:-20],
    "no signature": lambda: signed().rpartition(".")[0] + ".",
    "a changed body": lambda: _changed(signed()),
    "its own key in the header": lambda: signed(OTHER_RSA, header={"jwk": jwk(OTHER_RSA, "RS256", "rsa")}),
    "a certificate in the header": lambda: signed(OTHER_RSA, header={"x5u": "https://evil.example/x.pem"}),
    "critical headers": lambda: signed(header={"crit": ["b64"], "b64": False}),
    "a kid that leads to a file": lambda: signed(OTHER_RSA, kid="../../../../dev/null"),
    "a kid that asks a database": lambda: signed(OTHER_RSA, kid="' OR 1=1 --"),
    "a kid that is a list": lambda: forged({"alg": "RS256", "kid": ["rsa"]}, claims(), lambda _: b"x"),
    "scopes that are a number": lambda: signed(scope=7),
    "a token of a megabyte": lambda: signed(sub="x" * 20_000),
    "an unknown API key": lambda: "shk_000000000000_nothing",
    "an API key without a secret": lambda: "shk_000000000000",
    "an API key that is only the prefix": lambda: "shk_",
}


def _changed(token: str) -> str:
    head, body, signature = token.split(".")
    said = json.loads(base64.urlsafe_b64decode(body + "=="))
    made = base64.urlsafe_b64encode(json.dumps({**said, "roles": ["admin"]}).encode()).rstrip(b"=").decode()
    return f"{head}.{made}.{signature}"


@pytest.mark.parametrize("name", GOOD)
def test_a_good_token_is_let_in(web: Web, name: str) -> None:
    answer = web.get("/v1/knowledge-bases", bearer(GOOD[name]()))
    assert answer.status_code == 200, answer.text
    assert answer.json()["count"] == 1


@pytest.mark.filterwarnings("ignore::jwt.warnings.InsecureKeyLengthWarning")
@pytest.mark.parametrize("name", BAD)
def test_a_bad_token_is_not(web: Web, name: str) -> None:
    for answer in (
        web.get("/v1/knowledge-bases", bearer(BAD[name]())),
        web.post("/mcp", {"jsonrpc": "2.0", "id": 1, "method": "tools/list"}, bearer(BAD[name]())),
    ):
        assert answer.status_code == 401
        assert "resource_metadata=" in answer.headers["www-authenticate"]
        assert "規程" not in answer.text
        assert "Traceback" not in answer.text


def test_there_are_more_than_forty_ways() -> None:
    assert len(BAD) >= 40


@pytest.mark.parametrize("header", ["", "Basic aGFuYWtvOng=", "Bearer", "bearer", "Token x", "Negotiate"])
def test_other_ways_to_say_who_one_is_are_not_taken(web: Web, header: str) -> None:
    assert web.get("/v1/knowledge-bases", {"Authorization": header}).status_code == 401


def test_a_token_in_the_address_is_not_taken(web: Web) -> None:
    assert web.get(f"/v1/knowledge-bases?access_token={signed()}").status_code == 401


def test_the_original_search_service_takes_the_token_of_its_clients(web: Web) -> None:
    """Whoever the token names is who searches: another tenant's base is no base of theirs."""
    [base] = web.get("/v1/knowledge-bases", bearer(signed())).json()["knowledge_bases"]
    asked = {"query": "副業", "kb_id": base["knowledge_base_id"], "top_k": 3, "threshold": 0}
    found = web.post("/admin/search/hybrid", asked, bearer(signed()))
    assert found.json()["count"] >= 1
    assert web.post("/admin/search/hybrid", asked).status_code == 401
    assert web.post("/admin/search/hybrid", asked, bearer(signed(tenant_id="他社"))).status_code == 404


class TestScopes:
    def test_a_token_opens_the_toolsets_it_names(self, web: Web) -> None:
        only = bearer(signed(scope="knowledge"))
        assert web.get("/v1/knowledge-bases", only).status_code == 200
        refused = web.get("/v1/programs/search", only)
        assert refused.status_code == 403
        assert "programs" in refused.text

    @pytest.mark.parametrize("scope", ["", ..., "other", "knowledge:write", "KNOWLEDGE"])
    def test_a_token_that_names_none_opens_none(self, web: Web, scope: Any) -> None:
        assert web.get("/v1/knowledge-bases", bearer(signed(scope=scope))).status_code == 403

    def test_figures_are_for_admins(self, web: Web) -> None:
        assert web.get("/metrics", bearer(signed())).status_code == 403
        assert web.get("/metrics", bearer(signed(roles=["admin"]))).status_code == 200

    def test_where_tokens_come_from_is_told_to_everybody(self, web: Web) -> None:
        for path in ("/.well-known/oauth-protected-resource", "/.well-known/oauth-protected-resource/mcp"):
            told = web.get(path).json()
            assert told["authorization_servers"] == [ISSUER]
            assert told["resource"].endswith("/mcp")
            assert {"knowledge", "patents", "programs", "answers", "pages"} == set(told["scopes_supported"])


@dataclass(frozen=True)
class Issued:
    web: Web
    id: str
    key: str


@pytest.fixture
def issued(web: Web) -> Issued:
    hanako = Caller(LOCAL_TENANT, "bot", clearance=Confidentiality.internal)
    with web.application.workspace().database.write() as connection:
        key, written = create_key(connection, "試し", hanako, ["knowledge"], now() + timedelta(days=1))
    return Issued(web, key.id, written)


class TestKeys:
    def test_a_key_is_let_in_with_its_scopes(self, issued: Issued) -> None:
        assert issued.web.get("/v1/knowledge-bases", bearer(issued.key)).json()["count"] == 1
        assert issued.web.get("/v1/meta", bearer(issued.key)).status_code == 403

    def test_a_key_with_another_secret_is_not(self, issued: Issued) -> None:
        for wrong in (
            issued.key[:-1],
            issued.key + "x",
            issued.key.swapcase(),
            issued.key.replace("shk_", "shk__"),
        ):
            assert issued.web.get("/v1/knowledge-bases", bearer(wrong)).status_code == 401

    def test_a_revoked_key_is_useless_at_once(self, issued: Issued) -> None:
        with issued.web.application.workspace().database.write() as connection:
            assert not revoke_key(connection, "other", issued.id)
            assert revoke_key(connection, LOCAL_TENANT, issued.id)
            assert not revoke_key(connection, LOCAL_TENANT, issued.id)
        assert issued.web.get("/v1/knowledge-bases", bearer(issued.key)).status_code == 401

    def test_a_key_ends(self, web: Web) -> None:
        with web.application.workspace().database.write() as connection:
            over = now() - timedelta(seconds=1)
            _, written = create_key(connection, "古い", Caller(LOCAL_TENANT, "bot"), ["knowledge"], over)
        assert web.get("/v1/knowledge-bases", bearer(written)).status_code == 401

    def test_the_store_holds_no_secret(self, issued: Issued) -> None:
        secret = issued.key.rpartition("_")[2]
        with issued.web.application.workspace().database.read() as connection:
            assert issued.id in {key.id for key in list_keys(connection, LOCAL_TENANT)}
            dump = connection.exec_driver_sql("SELECT * FROM api_keys").all()
        assert secret not in str(dump)

    def test_a_caller_that_asks_too_often_is_told_when_to_come_again(self, tmp_path: Path) -> None:
        application, _ = office(tmp_path)
        with application.workspace().database.write() as connection:
            _, written = create_key(connection, "k", Caller(LOCAL_TENANT, "bot"), ["knowledge"], None)
            _, other = create_key(connection, "l", Caller(LOCAL_TENANT, "other"), ["knowledge"], None)
        with serving(application, rate=Rate(0.1, 3)) as web:
            seen = [web.get("/v1/knowledge-bases", bearer(written)) for _ in range(4)]
            assert [each.status_code for each in seen] == [200, 200, 200, 429]
            assert seen[-1].json()["code"] == "RATE_LIMITED"
            assert 1 <= int(seen[-1].headers["retry-after"]) <= 10
            assert web.get("/v1/knowledge-bases", bearer(other)).status_code == 200


class TestKeySets:
    def test_a_file_that_changes_is_read_again(self, tmp_path: Path) -> None:
        application, _ = office(tmp_path)
        path = tmp_path / "jwks.json"
        path.write_text(json.dumps({"keys": []}))
        with serving(
            application, jwt=JwtSettings(AUDIENCE, ISSUER, str(path)), anonymous_rate=Rate(99, 99)
        ) as web:
            assert web.get("/v1/knowledge-bases", bearer(signed())).status_code == 401
            path.write_text(json.dumps(JWKS))
            assert web.get("/v1/knowledge-bases", bearer(signed())).status_code == 200
            path.write_text("{")
            assert web.get("/v1/knowledge-bases", bearer(signed())).status_code == 401

    def test_an_address_is_asked_once_and_no_redirect_is_followed(self, tmp_path: Path) -> None:
        asked: list[str] = []

        class Handler(BaseHTTPRequestHandler):
            def do_GET(self) -> None:
                asked.append(self.path)
                if self.path == "/moved":
                    self.send_response(302)
                    self.send_header("Location", "/jwks")
                    self.end_headers()
                    return
                self.send_response(200)
                self.end_headers()
                self.wfile.write(json.dumps(JWKS).encode())

            def log_message(self, *_: Any) -> None:
                pass

        server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
        threading.Thread(target=server.serve_forever, daemon=True).start()
        address = f"http://127.0.0.1:{server.server_port}"
        application, _ = office(tmp_path)
        many = Rate(99, 99)
        with serving(
            application, jwt=JwtSettings(AUDIENCE, ISSUER, f"{address}/jwks"), anonymous_rate=many
        ) as web:
            for _ in range(3):
                assert web.get("/v1/knowledge-bases", bearer(signed())).status_code == 200
            for _ in range(3):
                unknown = web.get("/v1/knowledge-bases", bearer(signed(OTHER_RSA, kid="other")))
                assert unknown.status_code == 401
        assert asked == ["/jwks"]
        with serving(
            application, jwt=JwtSettings(AUDIENCE, ISSUER, f"{address}/moved"), anonymous_rate=many
        ) as web:
            assert web.get("/v1/knowledge-bases", bearer(signed())).status_code == 401
        assert asked == ["/jwks", "/moved"]
        server.shutdown()
        server.server_close()


class TestSettings:
    @pytest.mark.parametrize(
        "environ",
        [
            {"SHIRUBE_INSECURE_LOCAL": "1", "SHIRUBE_HOST": "0.0.0.0"},
            {"SHIRUBE_INSECURE_LOCAL": "1", "SHIRUBE_HOST": "shirube.example.jp"},
            {"SHIRUBE_JWT_SECRET": "short", "SHIRUBE_JWT_AUDIENCE": "a", "SHIRUBE_JWT_ISSUER": "b"},
            {"SHIRUBE_JWT_SECRET": "x" * 32},
            {
                "SHIRUBE_JWKS": "http://evil.example/jwks",
                "SHIRUBE_JWT_AUDIENCE": "a",
                "SHIRUBE_JWT_ISSUER": "b",
            },
            {"SHIRUBE_JWKS": "ftp://x/y", "SHIRUBE_JWT_AUDIENCE": "a", "SHIRUBE_JWT_ISSUER": "b"},
            {
                "SHIRUBE_JWKS": "k.json",
                "SHIRUBE_JWT_AUDIENCE": "a",
                "SHIRUBE_JWT_ISSUER": "b",
                "SHIRUBE_JWT_ALGORITHMS": "none",
            },
            {"SHIRUBE_PORT": "99999"},
            {"SHIRUBE_RATE": "fast"},
            {"SHIRUBE_RATE": "0/0"},
            {"SHIRUBE_PUBLIC_URL": "shirube"},
        ],
    )
    def test_what_would_let_somebody_in_by_mistake_does_not_start(self, environ: dict[str, str]) -> None:
        with pytest.raises(InvalidInput):
            serve_settings(environ)

    def test_without_settings_only_this_machine_is_served_and_tokens_are_needed(self) -> None:
        settings = serve_settings({})
        assert (settings.host, settings.insecure_local, settings.jwt) == ("127.0.0.1", False, None)
