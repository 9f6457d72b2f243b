"""Ten thousand searches leave the memory of a server as it was."""

import random
from pathlib import Path
from uuid import UUID

import pytest

from benchmarks.machine import resident
from shirube.caller import LOCAL
from shirube.evaluate.datasets import Passage
from shirube.evaluate.searcher import Searcher
from shirube.toolsets.knowledge.schema import SearchInput

WORDS = (
    "副業",
    "手当",
    "許可",
    "申請",
    "在宅",
    "勤務",
    "旅費",
    "精算",
    "休暇",
    "取得",
    "サーバー",
    "障害",
    "育児",
    "短時間",
)
SEARCHES, WARM, SHARE = 10_000, 2_000, 0.05


@pytest.mark.soak
def test_ten_thousand_searches_leave_the_memory_as_it_was(tmp_path: Path) -> None:
    chance = random.Random(20261116)

    def text() -> str:
        return "".join(
            f"{chance.choice(WORDS)}の{chance.choice(WORDS)}を{chance.choice(WORDS)}する。" for _ in range(6)
        )

    searcher = Searcher(tmp_path, [Passage(str(number), "規程", text()) for number in range(2_000)])
    before = 0
    for number in range(SEARCHES):
        if number == WARM:
            before = resident()
        query = f"{chance.choice(WORDS)}の{chance.choice(WORDS)}は{number}件？"
        asked = SearchInput(query=query, knowledge_base_id=UUID(searcher.base.id), threshold=0.0)
        assert searcher.service.search(LOCAL, asked).count
    grown = resident() - before
    searcher.close()
    assert grown < before * SHARE, f"{grown / 2**20:.1f} MiB more than {before / 2**20:.1f} MiB"
