"""Short words are the everyday queries of Japanese search: does a peer find two characters that are surely there?"""

from collections.abc import Sequence

from benchmarks.datasets import Passage
from benchmarks.peers.contract import Peer, Probe

SENTENCES = (
    "扶養手当は、配偶者または子を扶養する職員に毎月支給します。",
    "太陽光発電の設置にかかる費用の一部を市が補助します。",
    "副業を始めるときは、あらかじめ会社の許可を得てください。",
    "新しく農業を始める方は、窓口で研修を申し込めます。",
    "日本政策金融公庫の融資を受けるには、事業計画書が必要です。",
    "住民税は、前年の所得に応じて翌年の六月から納めます。",
    "出張の旅費は、帰着後七日以内に精算してください。",
    "育児休業中の社会保険料は、届け出により免除されます。",
    "特許の出願から一年六か月が過ぎると、内容が公開されます。",
    "契約の更新を望まないときは、満了の一か月前までに通知します。",
)
WORDS = (
    "手当", "扶養", "補助", "費用", "副業", "許可", "農業", "研修", "融資", "計画",
    "所得", "旅費", "精算", "免除", "保険", "特許", "出願", "契約", "更新", "通知",
)  # fmt: skip


def probe(peer: Peer) -> Probe:
    peer.build([Passage(str(number), "", sentence) for number, sentence in enumerate(SENTENCES)])
    answers = {word: peer.search(word, len(SENTENCES)) for word in WORDS}
    missed = [word for word, answer in answers.items() if not _first_holds(answer, word)]
    return Probe(
        asked=len(WORDS),
        answered=sum(bool(answer) for answer in answers.values()),
        found=len(WORDS) - len(missed),
        missed=missed,
    )


def _first_holds(answer: Sequence[str], word: str) -> bool:
    return bool(answer) and word in SENTENCES[int(answer[0])]
