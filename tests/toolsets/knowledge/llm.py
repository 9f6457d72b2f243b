"""A language model behind a real HTTP server, in the two wire formats, that says what a test tells it to."""

from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass

from shirube.models import registry
from shirube.models.contract import Generator
from shirube.models.deadline import Timeouts
from shirube.models.guarded import GuardedGenerator
from shirube.models.remote import ollama_generator, openai_generator
from tests.models.wire import Reply, Request, Wire, as_json, prompt_of, says, serve

KINDS = {"ollama": "ollama:elyza@{}", "openai": "openai:elyza@{}/v1"}
Speech = str | Callable[[str], str]


@dataclass(frozen=True)
class Llm:
    wire: Wire
    setting: str

    @property
    def model(self) -> Generator:
        """The model as the setting gives it, with a breaker of its own."""
        found = registry.generator(self.setting)
        assert found is not None
        return found

    @property
    def hasty(self) -> Generator:
        """The same model, waited for a moment only."""
        timeouts = Timeouts(connect=0.2, generate=0.2)
        if self.setting.startswith("ollama"):
            return GuardedGenerator(ollama_generator(self.setting, "elyza", self.wire.url, timeouts))
        url = self.wire.url + "/v1"
        return GuardedGenerator(openai_generator(self.setting, "elyza", url, None, timeouts))

    @property
    def prompts(self) -> Sequence[str]:
        return [prompt_of(request) for request in self.wire.requests]

    def say(self, *speeches: Speech) -> None:
        """Answer with these in turn; the last one from then on."""
        left = list(speeches)

        def answer(request: Request) -> Reply:
            speech = left.pop(0) if len(left) > 1 else left[0]
            return says(request, speech if isinstance(speech, str) else speech(prompt_of(request)))

        self.wire.answer = answer

    def fail(self, status: int = 500) -> None:
        self.wire.answer = lambda request: as_json({"error": "秘密 secret"}, status)

    def hang(self) -> None:
        self.wire.answer = self.wire.silent


@contextmanager
def speaking(kind: str) -> Iterator[Llm]:
    with serve(lambda request: as_json({}, 500)) as wire:
        yield Llm(wire, KINDS[kind].format(wire.url))
