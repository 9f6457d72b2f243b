"""A Bedrock of our own on this machine, kb_answer that asks it, and what the service's own model says of a request."""

import asyncio
import json
import os
import re
import ssl
from collections.abc import Callable, Iterator, Mapping
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta
from http.server import ThreadingHTTPServer
from ipaddress import ip_address
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import botocore.session
import pytest
from botocore.validate import ParamValidator
from cryptography import x509
from cryptography.hazmat.primitives import hashes, serialization
from cryptography.hazmat.primitives.asymmetric import ec
from cryptography.x509.oid import NameOID
from hypothesis import strategies as st

from shirube.caller import LOCAL
from shirube.settings import load_settings
from shirube.toolsets.answers.config import KBConfig
from shirube.toolsets.registry import Application
from tests.models.wire import Reply, Request, Wire, as_json, serve

KB_ID = "KBSHIRUBE1"
MODEL_ARN = "arn:aws:bedrock:ap-northeast-1::foundation-model/anthropic.claude-3-5-sonnet-20240620-v1:0"
ACCESS_KEY = "AKIAIOSFODNN7EXAMPLE"
SECRET_KEY = "wJalrXUtnFEMI/K7MDENG/bPxRfiCYEXAMPLEKEY"
ENVIRON = {
    "SHIRUBE_ANSWERS": "bedrock",
    "BEDROCK_KB_ID": KB_ID,
    "BEDROCK_MODEL_ARN": MODEL_ARN,
    "AWS_ACCESS_KEY_ID": ACCESS_KEY,
    "AWS_SECRET_ACCESS_KEY": SECRET_KEY,
    "AWS_CONFIG_FILE": os.devnull,
    "AWS_SHARED_CREDENTIALS_FILE": os.devnull,
    "AWS_EC2_METADATA_DISABLED": "true",
}
ERROR_TYPES = ("ValidationError", "AuthenticationError", "NotFoundError", "ServiceError")
QUESTION = "副業には許可が必要ですか？"
TEXT = "副業には会社の許可が必要です。"

REGIONS = st.from_regex(
    r"(us|us-gov|eu|ap|ca|sa|me|af|il|cn)-(north|south|east|west|central|northeast|southeast)-[1-9]",
    fullmatch=True,
)
KB_IDS = st.from_regex(r"[0-9A-Za-z]{1,10}", fullmatch=True)
_PLACE = r"arn:aws(-cn|-us-gov)?:bedrock:[a-z]{2}-[a-z]{4,9}-[1-9]"
MODEL_ARNS = st.one_of(
    st.from_regex(_PLACE + r"::foundation-model/[a-z0-9]{2,9}\.[a-z0-9-]{2,40}:[0-9]", fullmatch=True),
    st.from_regex(_PLACE + r":[0-9]{12}:inference-profile/(us|eu|jp)\.[a-z0-9.-]{2,40}:0", fullmatch=True),
    st.from_regex(_PLACE + r":[0-9]{12}:provisioned-model/[a-z0-9]{12}", fullmatch=True),
    st.from_regex(r"(anthropic|amazon)\.[a-z0-9-]{2,40}-v[0-9]:[0-9]", fullmatch=True),
)
CONFIGS = st.builds(KBConfig, REGIONS, KB_IDS, MODEL_ARNS)
MAX_RESULTS = st.integers(1, 100)
QUERIES = st.text(min_size=1, max_size=1000).filter(lambda query: bool(query.strip()))


def generated(text: str = TEXT, *citations: Mapping[str, Any]) -> Reply:
    """As RetrieveAndGenerate answers."""
    return as_json({"sessionId": "0f3c7a52-session", "output": {"text": text}, "citations": citations})


def refused(code: str, status: int = 400, message: str = "") -> Reply:
    """As AWS refuses: the code stands in a header, the words in the body."""
    body = json.dumps({"message": message}, ensure_ascii=False).encode()
    return Reply(body, status, {"Content-Type": "application/json", "x-amzn-errortype": code})


def default_answer(request: Request) -> Reply:
    assert request.path == "/retrieveAndGenerate"
    return generated()


@dataclass
class Bedrock:
    """The service, the environment that leads to it, and kb_answer between them."""

    wire: Wire
    environ: pytest.MonkeyPatch
    application: Application
    pauses: list[float] = field(default_factory=list)
    """How long boto3 wanted to wait before each repeated attempt; it does not."""

    @property
    def requests(self) -> list[Request]:
        return self.wire.requests

    def answers(self, answer: Callable[[Request], Reply]) -> None:
        self.wire.answer = answer

    def ask(self, query: Any = QUESTION, **arguments: Any) -> Mapping[str, Any]:
        return self.call({"query": query, **arguments})

    def call(self, arguments: Any) -> Mapping[str, Any]:
        return asyncio.run(self.application.registry.call("kb_answer", LOCAL, arguments)).body

    def error(self, error_type: str, query: Any = QUESTION, **arguments: Any) -> str:
        """The message of the error that comes, which is of this type and in the form of the specification."""
        body = self.ask(query, **arguments)
        assert body.keys() == {"error", "error_type", "message"}, body
        assert body["error"] is True
        assert body["error_type"] == error_type, body
        assert isinstance(body["message"], str)
        return body["message"]


@contextmanager
def serve_bedrock(home: Path, certificate: Path | None = None) -> Iterator[Bedrock]:
    """Over TLS where there is a certificate."""
    with pytest.MonkeyPatch.context() as environ, ExitStack() as opened:
        if certificate:
            environ.setattr("tests.models.wire.ThreadingHTTPServer", over_tls(certificate))
        wire = opened.enter_context(serve(default_answer))
        for name in list(os.environ):
            if name.upper().startswith(("AWS_", "BEDROCK_", "SHIRUBE_")) or name.upper().endswith("_PROXY"):
                environ.delenv(name)
        for name, value in ENVIRON.items():
            environ.setenv(name, value)
        environ.setenv("SHIRUBE_HOME", str(home))
        environ.setenv("SHIRUBE_EMBEDDER", "none")
        environ.setenv("BEDROCK_ENDPOINT_URL", wire.url)
        if certificate:
            environ.setenv("BEDROCK_ENDPOINT_URL", wire.url.replace("http://", "https://"))
            environ.setenv("AWS_CA_BUNDLE", str(certificate))
        application = Application(load_settings(os.environ))
        bedrock = Bedrock(wire, environ, application)
        environ.setattr("botocore.endpoint.time", SimpleNamespace(sleep=bedrock.pauses.append))
        try:
            yield bedrock
        finally:
            application.workspace().database.close()


def over_tls(certificate: Path) -> type[ThreadingHTTPServer]:
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    context.load_cert_chain(certificate)

    class SecureServer(ThreadingHTTPServer):
        def get_request(self) -> tuple[Any, Any]:
            connection, address = super().get_request()
            # The handshake comes with the first byte read, in the request's own thread.
            return context.wrap_socket(connection, server_side=True, do_handshake_on_connect=False), address

    return SecureServer


@pytest.fixture
def secure_bedrock(tmp_path: Path) -> Iterator[Bedrock]:
    """The same over TLS, without which boto3 sends no bearer token."""
    certificate = tmp_path / "certificate.pem"
    certificate.write_bytes(self_signed())
    with serve_bedrock(tmp_path / "home", certificate) as bedrock:
        yield bedrock


def self_signed() -> bytes:
    """A key and a certificate of this machine, for today."""
    key = ec.generate_private_key(ec.SECP256R1())
    name = x509.Name([x509.NameAttribute(NameOID.COMMON_NAME, "127.0.0.1")])
    now = datetime.now(UTC)
    certificate = (
        x509.CertificateBuilder(name, name, key.public_key(), x509.random_serial_number())
        .not_valid_before(now - timedelta(hours=1))
        .not_valid_after(now + timedelta(days=1))
        .add_extension(x509.SubjectAlternativeName([x509.IPAddress(ip_address("127.0.0.1"))]), critical=False)
        .add_extension(x509.BasicConstraints(ca=True, path_length=None), critical=True)
        .sign(key, hashes.SHA256())
    )
    plain = serialization.NoEncryption()
    return key.private_bytes(
        serialization.Encoding.PEM, serialization.PrivateFormat.PKCS8, plain
    ) + certificate.public_bytes(serialization.Encoding.PEM)


@pytest.fixture
def bedrock(tmp_path: Path) -> Iterator[Bedrock]:
    with serve_bedrock(tmp_path / "home") as bedrock:
        yield bedrock


def request_shape() -> Any:
    """What botocore knows of the input of RetrieveAndGenerate."""
    model = botocore.session.Session().get_service_model("bedrock-agent-runtime")
    return model.operation_model("RetrieveAndGenerate").input_shape


def assert_fits(shape: Any, value: Any) -> None:
    """Nothing is missing, unknown or of the wrong type, and every value is within the limits of the model."""
    errors = ParamValidator().validate(value, shape)
    assert not errors.has_errors(), errors.generate_report()
    assert list(_misfits(shape, value)) == []


def _misfits(shape: Any, value: Any) -> Iterator[str]:
    """What boto3 leaves to the service to refuse: choices, upper limits and patterns."""
    least, most = shape.metadata.get("min"), shape.metadata.get("max")
    match shape.type_name:
        case "structure":
            for name, each in value.items():
                yield from _misfits(shape.members[name], each)
            return
        case "list":
            for each in value:
                yield from _misfits(shape.member, each)
            size: float = len(value)
        case "string":
            if shape.enum and value not in shape.enum:
                yield f"{shape.name}: {value} is none of {shape.enum}"
            pattern = shape.metadata.get("pattern")
            if pattern and not re.search(pattern, value):
                yield f"{shape.name}: {value} does not match {pattern}"
            size = len(value)
        case "integer":
            size = value
        case other:
            yield f"{shape.name}: nothing is known of {other}"
            return
    if (least is not None and size < least) or (most is not None and size > most):
        yield f"{shape.name}: {value} is out of {least} to {most}"
