"""Every way a query can be wrong, with what to write instead."""

from dataclasses import dataclass

from shirube.query.errors import QuerySyntaxError

# Three digits: beyond that, being near says no more than AND does.
MAX_DISTANCE = 999
# Any order of k groups takes about 2^k steps to check.
MAX_GROUPS = 8
# Each looks at every text that may be meant.
MAX_NEARS = 20
# Keeps every recursive reader of the tree far from Python's recursion limit.
MAX_DEPTH = 50


@dataclass(frozen=True)
class Problem:
    expected: str
    ja: str
    en: str

    def at(self, position: int) -> QuerySyntaxError:
        return QuerySyntaxError(
            position,
            self.expected,
            f"検索式の{position + 1}文字目: {self.ja}",
            f"Query, character {position + 1}: {self.en}",
        )


NO_OPERAND = Problem(
    "word",
    "ここに検索語が必要です。AND・OR・NOT と括弧の中には検索語を入れてください。",
    "a search word is needed here; AND, OR, NOT and parentheses each need one.",
)
NOT_OPENED = Problem(
    "end of query",
    "対応する「(」がありません。「)」を消すか、前に「(」を加えてください。",
    "this ) closes nothing; remove it or add a ( before it.",
)
NOT_CLOSED = Problem(
    ")",
    "「(」が閉じられていません。「)」を加えてください。",
    "a ( is still open; add a ).",
)
TOO_DEEP = Problem(
    "fewer parentheses and NOTs",
    f"括弧と NOT の入れ子は{MAX_DEPTH}段までです。式を簡単にしてください。",
    f"parentheses and NOT may be nested {MAX_DEPTH} deep; simplify the query.",
)
QUOTE_NOT_CLOSED = Problem(
    '"',
    '引用符が閉じられていません。「"」を加えてください。',
    'a quotation is still open; add a ".',
)
EMPTY_PHRASE = Problem(
    "text",
    "引用符の中が空です。検索する語句を入れてください。",
    "the quotation is empty; put the phrase to search for inside.",
)
LEADING_STAR = Problem(
    "word before *",
    '「*」の前に文字が必要です。前方一致は 顔認*、近傍検索は *N10"顔 認証" と書いてください。',
    '* needs a character before it; write 顔認* for a prefix or *N10"顔 認証" for NEAR.',
)
NOTHING_ESCAPED = Problem(
    "character after \\",
    "「\\」の後に文字が必要です。",
    "\\ needs a character after it.",
)
BAD_DISTANCE = Problem(
    f"distance from 0 to {MAX_DISTANCE}",
    f'近傍検索の文字数は0〜{MAX_DISTANCE}で指定してください。例: *N10"顔 認証"',
    f'NEAR takes a distance from 0 to {MAX_DISTANCE}, as in *N10"顔 認証".',
)
NEAR_WITHOUT_QUOTE = Problem(
    '"',
    '近傍検索の語は引用符で囲んでください。例: *N10"顔 認証"',
    'put the words of NEAR in quotes, as in *N10"顔 認証".',
)
TOO_FEW_GROUPS = Problem(
    "another word",
    '近傍検索には2つ以上の語が必要です。例: *N10"顔 認証"',
    'NEAR needs two or more words, as in *N10"顔 認証".',
)
TOO_MANY_GROUPS = Problem(
    '"',
    f"近傍検索の語は{MAX_GROUPS}つまでです。",
    f"NEAR takes at most {MAX_GROUPS} words.",
)
TOO_MANY_NEARS = Problem(
    f"{MAX_NEARS} NEARs or fewer",
    f"近傍検索は1つの式に{MAX_NEARS}個までです。",
    f"a query takes at most {MAX_NEARS} NEARs.",
)
OPERATOR_IN_NEAR = Problem(
    "word",
    "近傍検索の中では演算子を使えません。選択肢は (a OR b) と書いてください。",
    "NEAR takes no operators; write alternatives as (a OR b).",
)
GROUP_IN_GROUP = Problem(
    ")",
    "近傍検索の括弧の中に括弧は使えません。(a OR b OR c) のように並べてください。",
    "a group of NEAR holds no parentheses; list the alternatives as (a OR b OR c).",
)
