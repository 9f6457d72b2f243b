"""Who answers, and what Bedrock needs to be asked. The one place that reads these settings."""

import math
import os
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Literal

from shirube.errors import InvalidInput

Backend = Literal["bedrock", "local"]
DEFAULT_REGION = "ap-northeast-1"
# A model writes for some seconds; whoever asks has given up after a minute.
DEFAULT_SECONDS = 60.0
CHOICE, REGION, KB_ID, MODEL_ARN = "SHIRUBE_ANSWERS", "AWS_REGION", "BEDROCK_KB_ID", "BEDROCK_MODEL_ARN"
THRESHOLD = "SHIRUBE_ANSWERS_THRESHOLD"
# As the search has it; `python -m benchmarks.answers` shows what other values trade.
DEFAULT_THRESHOLD = 0.6
PROFILE, ENDPOINT, SECONDS = "AWS_PROFILE", "BEDROCK_ENDPOINT_URL", "BEDROCK_TIMEOUT"


class WrongSettings(InvalidInput, ValueError):
    """Settings that are missing or mean nothing; the message names each."""


@dataclass(frozen=True)
class KBConfig:
    aws_region: str
    kb_id: str
    model_arn: str
    aws_profile: str | None = None
    endpoint_url: str | None = None
    seconds: float = DEFAULT_SECONDS
    """How long one answer may take, all attempts together."""


def backend(environ: Mapping[str, str] = os.environ) -> Backend:
    """What `SHIRUBE_ANSWERS` names; without it Bedrock where it is set up, else this machine."""
    match _value(environ, CHOICE):
        case "bedrock":
            return "bedrock"
        case "local":
            return "local"
        case None:
            return "bedrock" if _value(environ, KB_ID) or _value(environ, MODEL_ARN) else "local"
    raise WrongSettings(
        f"{CHOICE} must be bedrock or local", f"{CHOICE} は bedrock か local を指定してください。"
    )


def is_elsewhere(environ: Mapping[str, str] = os.environ) -> bool:
    """Whether answers are waited for; where the settings are wrong, whoever asks is told."""
    try:
        return backend(environ) == "bedrock"
    except WrongSettings:
        return False


def load_config(environ: Mapping[str, str] = os.environ) -> KBConfig:
    """The settings of Bedrock as they are set; `WrongSettings` (a ValueError) names each that is missing."""
    kb_id, model_arn = _value(environ, KB_ID), _value(environ, MODEL_ARN)
    if kb_id is None or model_arn is None:
        missing = ", ".join(name for name, value in ((KB_ID, kb_id), (MODEL_ARN, model_arn)) if value is None)
        raise WrongSettings(
            f"Environment variables are missing: {missing}",
            f"環境変数 {missing} が設定されていません。",
            hint=f"設定するか、{CHOICE}=local で手元の文書から答えさせてください。 "
            f"Set them, or answer from the documents here with {CHOICE}=local.",
        )
    return KBConfig(
        aws_region=_value(environ, REGION) or DEFAULT_REGION,
        kb_id=kb_id,
        model_arn=model_arn,
        aws_profile=_value(environ, PROFILE),
        endpoint_url=_value(environ, ENDPOINT),
        seconds=_number(environ, SECONDS, DEFAULT_SECONDS, 0.1, 600),
    )


def threshold(environ: Mapping[str, str] = os.environ) -> float:
    """How likely a passage here has to hold the answer, to be given as one."""
    return _number(environ, THRESHOLD, DEFAULT_THRESHOLD, 0, 1)


def _number(environ: Mapping[str, str], name: str, default: float, least: float, most: float) -> float:
    written = _value(environ, name)
    if written is None:
        return default
    try:
        number = float(written)
    except ValueError:
        number = math.nan
    if not least <= number <= most:
        raise WrongSettings(
            f"{name} must be a number from {least:g} to {most:g}",
            f"{name} は {least:g}〜{most:g} の数で指定してください。",
        )
    return number


def _value(environ: Mapping[str, str], name: str) -> str | None:
    """What is set, exactly; white space alone is nothing."""
    value = environ.get(name, "")
    return value if value.strip() else None
