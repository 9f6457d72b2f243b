"""Sentences that speak to a language model instead of to a reader: they are no answer to anybody's question."""

import re

from shirube.text.normalize import fold

# Agents and assistants are people too, and every company has models: these need a word that only a program is told.
_MODEL = (
    r"(?:(?<![a-z])ai(?![a-z])|llm|chatgpt|gpt-?[0-9]|\bclaude\b|\bgemini\b|\bcopilot\b|"
    r"人工知能|言語モデル|チャットボット|(?:ai|対話)(?:アシスタント|エージェント|モデル)|"
    r"\b(?:ai assistant|language model|chatbot)\b)"
)
_LIKELY = rf"(?:{_MODEL}|アシスタント|エージェント|モデル|\b(?:assistant|agent)\b)"
_ANSWERED = r"(?:答え|回答し|返答し|出力し|返し|表示し|要約し|付け加え|記載し|伝え)"
_TOLD = rf"(?:{_ANSWERED}(?:ろ|よ|なさい|て(?:ください|下さい)|ること|[るす]こと)|せよ|しろ|しなさい|返せ)"
_SAID = r"[「『\"][^」』\"]{1,80}[」』\"]"
# Programs that answer people, and who asks them.
_RESPONDER = r"(?:自動(?:応答|回答|返信)|(?:応答|回答|検索)(?:システム|エンジン|プログラム)|(?<!ロ)ボット)"
_REPLY = r"(?:答え|回答|案内|返答|応答)"
_TOLD_TO = r"(?:す?ること|し?て(?:ください|下さい)|せよ|しろ|し?なさい|[ろよ])"
# Somebody who is asked by customers is told so with から; programs are told of the question alone.
_WHEN_ASKED = (
    r"\A(?:(?!(?<!ユーザー)(?<!利用者)(?<!質問者)から|担当|受付|窓口|職員|社員|従業員)[^。]){0,60}"
    r"(?:(?:聞|訊)かれ|尋ねられ|問われ|質問され)たら"
)
_SPOKEN_TO = re.compile(
    "|".join(
        (
            r"(?:以前|これまで|今まで|上記|前述|先ほど|すべて|全て|他)の?(?:指示|命令|プロンプト|ルール|制約)[^。]{0,12}"
            r"(?:無視|忘れ|破棄|上書き)(?!し?ては|しない|せず|する(?:行為|者|こと(?:は|を|が)))",
            r"(?:指示|命令|プロンプト)を(?:すべて|全て)?(?:無視|忘れ|破棄|上書き)(?!し?ては)[^。]{0,60}"
            r"(?:ください|下さい|せよ|しろ|なさい|え[ろよ]|すること)",
            r"システム(?:プロンプト|メッセージ)を?(?:無視|忘れ|出力|表示|開示|教え|公開)|隠し(?:指示|命令)|開発者モード|脱獄",
            rf"あなたは(?:今後|これから|もはや|今|今や|今から)?[^。]{{0,20}}{_LIKELY}",
            rf"{_MODEL}[^。]{{0,12}}?(?:は|へ|に対して|への)[、,:]?[^。]{{0,40}}(?:{_TOLD}|(?:必ず|常に)[^。]{{0,30}}(?:答え|回答|出力))",
            rf"{_LIKELY}(?:は|へ|への|に対して)[、,:]?[^。]{{0,40}}{_SAID}[^。]{{0,4}}{_TOLD}",
            rf"{_LIKELY}(?:は|へ|への|に対して)[、,:]?[^。]{{0,40}}(?:指示|命令|プロンプト|要約|回答)[^。]{{0,12}}"
            r"(?:せよ|しろ|しなさい|してください|すること)",
            r"(?:と|だけ|のみ)(?:答え|回答し|出力し|返答し|返信し)(?:ろ|よ|なさい|てください)",
            rf"{_RESPONDER}[^。]{{0,12}}?(?:は|へ|に対して|への)[、,:]?[^。]{{0,60}}と(?:だけ|のみ)?{_REPLY}{_TOLD_TO}",
            rf"{_WHEN_ASKED}[^。]{{0,60}}と(?:だけ|のみ)?{_REPLY}{_TOLD_TO}",
            rf"(?:と|[」』\"])(?:だけ|のみ){_REPLY}{_TOLD_TO}",
            r"(?:^|\n)\W{0,3}(?:システム|アシスタント) ?: ?(?:あなた|以後|以降|今後|これから)",
            rf"(?:^|\n)\W{{0,3}}(?:システム|アシスタント) ?: ?[^。]{{0,60}}(?:{_REPLY}|出力|無視|従[いう]){_TOLD_TO}",
            rf"(?:回答|答え|返答|出力|要約)の(?:最後|最初|冒頭|末尾|先頭)に[^。]{{0,20}}{_SAID}",
            rf"(?:ユーザー?|利用者|質問者|相手)に(?:は|対して)?[、,]?[^。]{{0,10}}{_SAID}\s?と(?:だけ)?"
            r"(?:伝え|答え|回答|案内|返答)(?:ること|すること|よ|ろ|せよ|てください|してください)",
            r"\b(?:ignore|disregard|forget|override)\b[^.]{0,40}"
            r"\b(?:instructions?|prompts?|rules? (?:above|before)|above|previous|prior|you were told|told before)\b",
            r"\b(?:system|hidden) (?:prompt|message)\b|\bdeveloper mode\b|\bjailbreak|\bdo anything now\b",
            r"(?:^|\n)\W{0,3}(?:system|assistant|developer) ?: ?\S",
            r"\byou are (?:now |no longer )?(?:an? |the )?[^.]{0,20}(?:ai|assistant|chatbot|model|dan)\b",
            r"\b(?:reply|respond|answer|output) (?:only|exactly)\b|\bsay (?:only|exactly)\b",
            r"\b(?:reply|respond|answer|output)(?: only)? with "
            r"(?:only |exactly |the (?:word|phrase|text|sentence)|[\"'「])",
            r"\b(?:call|invoke|run|execute|use) the (?:tool|function)\b|\b(?:call|invoke) [a-z]+_[a-z_]+",
            r"<\|?(?:im_start|im_end|system|endoftext)\|?>|\[/?inst\]|<</?sys>>",
        )
    )
)


def speaks_to_a_model(sentence: str) -> bool:
    return bool(_SPOKEN_TO.search(fold(sentence)))
