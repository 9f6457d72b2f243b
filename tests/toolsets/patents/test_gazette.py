"""Gazettes in XML: both forms, what becomes of them, and what is refused. The inventions are made up."""

import time
from contextlib import suppress
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from shirube.ingest.refused import Refused
from shirube.toolsets.patents.gazette import read_gazette
from shirube.toolsets.patents.record import background, independent_claims, read_publication

_NAMESPACES = (
    'xmlns:jppat="http://www.jpo.go.jp/standards/XMLSchema/ST96/JPPatent" '
    'xmlns:jpcom="http://www.jpo.go.jp/standards/XMLSchema/ST96/JPCommon" '
    'xmlns:pat="http://www.wipo.int/standards/XMLSchema/ST96/Patent" '
    'xmlns:com="http://www.wipo.int/standards/XMLSchema/ST96/Common"'
)
_DECLARATION = '<?xml version="1.0" encoding="UTF-8"?>\n'

ST96 = f"""<jppat:UnexaminedPatentPublication {_NAMESPACES} com:languageCode="ja" com:st96Version="V3_1">
  <jppat:UnexaminedPatentPublicationBibliographicData>
    <pat:PlainLanguageDesignationText>公開特許公報(A)</pat:PlainLanguageDesignationText>
    <jppat:PatentPublicationIdentification>
      <com:IPOfficeCode>JP</com:IPOfficeCode>
      <pat:PublicationNumber>2023123456</pat:PublicationNumber>
      <com:PublicationDate>2023-09-05</com:PublicationDate>
    </jppat:PatentPublicationIdentification>
    <jppat:ApplicationIdentification>
      <com:ApplicationNumber>
        <com:ApplicationNumberText>2022028001</com:ApplicationNumberText>
      </com:ApplicationNumber>
      <pat:FilingDate>2022-02-25</pat:FilingDate>
    </jppat:ApplicationIdentification>
    <pat:PriorityClaimBag>
      <pat:PriorityClaim>
        <com:ApplicationNumber>
          <com:ApplicationNumberText>2021999999</com:ApplicationNumberText>
        </com:ApplicationNumber>
        <pat:FilingDate>2021-02-25</pat:FilingDate>
      </pat:PriorityClaim>
    </pat:PriorityClaimBag>
    <pat:InventionTitle>車線維持装置</pat:InventionTitle>
    <jppat:IPCClassification>
      <com:Edition>8</com:Edition>
      <pat:MainClassification>B60W  30/12        20200101AFI20230829BHJP</pat:MainClassification>
      <pat:FurtherClassification>G08G   1/16        20060101ALI20230829BHJP</pat:FurtherClassification>
    </jppat:IPCClassification>
    <jppat:NationalClassification>
      <com:IPOfficeCode>JP</com:IPOfficeCode>
      <jppat:MainNationalClassification>
        <pat:PatentClassificationText>B60W  30/12        624</pat:PatentClassificationText>
      </jppat:MainNationalClassification>
      <jppat:FurtherNationalClassification>
        <pat:PatentClassificationText>G05D   1/02        K</pat:PatentClassificationText>
      </jppat:FurtherNationalClassification>
      <jppat:FurtherNationalClassification>
        <pat:PatentClassificationText>Ｇ０８Ｇ　　１／１６　　　　Ｃ</pat:PatentClassificationText>
      </jppat:FurtherNationalClassification>
    </jppat:NationalClassification>
    <jppat:ThemeCodeInformationBag>
      <jppat:ThemeCodeInformation>5B089</jppat:ThemeCodeInformation>
    </jppat:ThemeCodeInformationBag>
    <jppat:FtermInformationBag>
      <jppat:FtermInformation>5B089AA01</jppat:FtermInformation>
      <jppat:FtermInformation>５Ｂ０８９ ＣＡ１３</jppat:FtermInformation>
    </jppat:FtermInformationBag>
    <jppat:UnexaminedPatentPublicationPartyBag>
      <jppat:ApplicantsRegisteredPractitionersBag>
        <jppat:ApplicantRegisteredPractitionerBag>
          <jppat:Applicant com:sequenceNumber="1">
            <com:PartyIdentifier>000000001</com:PartyIdentifier>
            <jpcom:Contact>
              <jpcom:OriginalLanguageIndicator>true</jpcom:OriginalLanguageIndicator>
              <com:Name><com:EntityName>Shirube Motors Inc.</com:EntityName></com:Name>
            </jpcom:Contact>
            <jpcom:Contact>
              <com:Name><com:EntityName>標自動車株式会社</com:EntityName></com:Name>
              <com:PostalAddressBag><com:PostalAddress>
                <com:PostalAddressText>愛知県架空市一丁目１番１号</com:PostalAddressText>
              </com:PostalAddress></com:PostalAddressBag>
            </jpcom:Contact>
          </jppat:Applicant>
          <jppat:Applicant com:sequenceNumber="2">
            <jpcom:Contact>
              <com:Name><com:EntityName>国立大学法人架空大学</com:EntityName></com:Name>
            </jpcom:Contact>
          </jppat:Applicant>
          <jppat:RegisteredPractitioner>
            <jpcom:Contact><com:Name><com:EntityName>代理太郎</com:EntityName></com:Name></jpcom:Contact>
          </jppat:RegisteredPractitioner>
        </jppat:ApplicantRegisteredPractitionerBag>
      </jppat:ApplicantsRegisteredPractitionersBag>
      <jppat:InventorBag>
        <jppat:Inventor>
          <jpcom:Contact><com:Name><com:EntityName>山田　太郎</com:EntityName></com:Name></jpcom:Contact>
        </jppat:Inventor>
        <jppat:Inventor>
          <jpcom:Contact><com:Name><com:EntityName>鈴木　花子</com:EntityName></com:Name></jpcom:Contact>
        </jppat:Inventor>
      </jppat:InventorBag>
    </jppat:UnexaminedPatentPublicationPartyBag>
  </jppat:UnexaminedPatentPublicationBibliographicData>
  <jppat:Description>
    <pat:InventionTitle>車線維持装置</pat:InventionTitle>
    <pat:TechnicalField>
      <com:P com:pNumber="0001">　本開示は、車線維持装置に関する。</com:P>
    </pat:TechnicalField>
    <pat:BackgroundArt>
      <com:P com:pNumber="0002">　従来、白線を検出して操舵する装置が知られている。</com:P>
    </pat:BackgroundArt>
    <com:CitationBag>
      <com:PatentCitationBag>
        <com:P com:pNumber="0003"><com:PatentCitation>
          <com:PatentCitationText>特開２０１０－１２３４５６号公報</com:PatentCitationText>
        </com:PatentCitation></com:P>
      </com:PatentCitationBag>
    </com:CitationBag>
    <pat:InventionSummary>
      <pat:TechnicalProblem>
        <com:P com:pNumber="0004">　雪で白線が隠れると、車線を維持できない。</com:P>
      </pat:TechnicalProblem>
      <pat:TechnicalSolution><com:P com:pNumber="0005">　轍を検出する。</com:P></pat:TechnicalSolution>
      <pat:AdvantageousEffects>
        <com:P com:pNumber="0006">　本開示によれば、雪道でも車線を維持できる。</com:P>
      </pat:AdvantageousEffects>
    </pat:InventionSummary>
    <pat:EmbodimentDescription>
      <com:Heading>＜第１実施形態＞</com:Heading>
      <com:P com:pNumber="0007">　<com:FigureReference com:referencedFigureNumber="1"
        >図１</com:FigureReference>に示す
        ように、車両１０は、<com:B>検出部</com:B>２０を有する。<com:Br/>　ＣＯ<com:Sub>２</com:Sub>は
        <com:Math><com:Image><com:FileName>JPOXMLDOC01-000001.tif</com:FileName>
        <com:ImageFormatCategory>TIFF</com:ImageFormatCategory></com:Image></com:Math>減る。</com:P>
    </pat:EmbodimentDescription>
    <pat:ReferenceSignBag>
      <com:P com:pNumber="0008">１０　車両<com:Br/>２０　検出部</com:P>
    </pat:ReferenceSignBag>
  </jppat:Description>
  <pat:Claims>
    <pat:Claim com:id="c1"><pat:ClaimNumber>1</pat:ClaimNumber>
      <pat:ClaimText>路面の轍を検出する検出部と、<com:Br/>前記轍に沿って車両を
        操舵する操舵部と、<com:Br/>を備える、
        車線維持装置。</pat:ClaimText></pat:Claim>
    <pat:Claim com:id="c2"><pat:ClaimNumber>2</pat:ClaimNumber>
      <pat:ClaimText>前記検出部は、カメラを有する、請求項１に記載の車線維持装置。</pat:ClaimText></pat:Claim>
    <pat:Claim com:id="c3"><pat:ClaimNumber>3</pat:ClaimNumber>
      <pat:ClaimText>請求項１または２に記載の車線維持装置を備える車両。</pat:ClaimText></pat:Claim>
    <pat:Claim com:id="c4"><pat:ClaimNumber>4</pat:ClaimNumber>
      <pat:ClaimText>路面の轍を検出し、前記轍に沿って操舵する方法。</pat:ClaimText></pat:Claim>
  </pat:Claims>
  <pat:Abstract>
    <com:P>【課題】雪道で車線を維持する。<com:Br/>【解決手段】轍を検出する。<com:Br/>【選択図】図１</com:P>
  </pat:Abstract>
  <jppat:WrittenAmendmentBag>
    <jppat:WrittenAmendment><pat:FilingDate>2022-05-01</pat:FilingDate>
      <pat:Claims><pat:Claim><pat:ClaimText>補正された請求項。</pat:ClaimText></pat:Claim></pat:Claims>
    </jppat:WrittenAmendment>
  </jppat:WrittenAmendmentBag>
</jppat:UnexaminedPatentPublication>"""

ST36 = """<jp-official-gazette kind-of-jp="A" kind-of-st16="A" lang="ja" dtd-version="1.0" country="JP"
    xmlns:jp="http://www.jpo.go.jp">
<bibliographic-data lang="ja" country="JP">
<publication-reference><document-id>
<country>JP</country><doc-number>2017200451</doc-number><kind>公開特許公報(A)</kind><date>20171109</date>
</document-id></publication-reference>
<application-reference><document-id><doc-number>2016094567</doc-number><date>20160510</date></document-id>
</application-reference>
<priority-claims><priority-claim><doc-number>2015000001</doc-number><date>20150101</date></priority-claim>
</priority-claims>
<classification-ipc><edition>8</edition><main-clsf>A01D  34/13        20060101AFI20171013BHJP</main-clsf>
<further-clsf>A01D  34/64        20060101ALI20171013BHJP</further-clsf></classification-ipc>
<classification-national><country>JP</country><main-clsf>A01D  34/13        A</main-clsf>
<further-clsf>A01D  34/64        101Z</further-clsf><further-clsf>B60K   6/54        ZHV</further-clsf>
</classification-national>
<invention-title>草刈機</invention-title>
<number-of-claims>2</number-of-claims>
<jp:theme-code-info><jp:theme-code>2B083</jp:theme-code></jp:theme-code-info>
<jp:f-term-info><jp:f-term>2B083AA02</jp:f-term><jp:f-term>2B083 BA18</jp:f-term></jp:f-term-info>
<parties>
<jp:applicants-agents-article><jp:applicants-agents sequence="1">
<applicant sequence="1"><addressbook lang="ja"><name>標農機株式会社</name>
<registered-number>000000002</registered-number>
<address><text>大阪府架空市二丁目２番２号</text></address></addressbook></applicant>
<agent sequence="1" jp:kind="representative">
<addressbook lang="ja"><name>代理花子</name></addressbook></agent>
</jp:applicants-agents></jp:applicants-agents-article>
<inventors><inventor sequence="1">
<addressbook lang="ja"><name>佐藤　一郎</name></addressbook></inventor></inventors>
</parties>
</bibliographic-data>
<abstract><p num="">【課題】切れ味のよい草刈機を提供する。<br/>【解決手段】刃１を二重にする。</p></abstract>
<claims>
<claim num="1"><claim-text>二重の刃を備える草刈機。</claim-text></claim>
<claim num="2"><claim-text>前記刃は鋼である請求項１に記載の草刈機。</claim-text></claim>
</claims>
<description>
<invention-title>草刈機</invention-title>
<technical-field><p num="0001">　本発明は草刈機に関する。</p></technical-field>
<background-art><heading>背景技術</heading><p num="0002">　従来の草刈機は刃が一枚である。</p>
<p num="0003">　刃は摩耗する。</p></background-art>
<citation-list><patent-literature>
<p num="0004"><patcit num="1"><text>特許第３００００００号公報</text></patcit></p>
</patent-literature></citation-list>
<summary-of-invention>
<tech-problem><p num="0005">　一枚の刃は切れ味が続かない。</p></tech-problem>
<tech-solution><p num="0006">　刃を二重にする。</p></tech-solution>
<advantageous-effects><p num="0007">　切れ味が続く。</p></advantageous-effects>
</summary-of-invention>
<description-of-embodiments><p num="0008">　刃１は<img id="000003" file="0001.tif"/>鋼である。</p>
<embodiments-example><p num="0009">　例１。</p></embodiments-example></description-of-embodiments>
</description>
<jp:written-amendment-group>
<claims><claim num="1"><claim-text>補正された請求項。</claim-text></claim></claims>
</jp:written-amendment-group>
</jp-official-gazette>"""


def rows(data: bytes) -> list[dict[str, Any]]:
    """All publications of a file; the first that is refused is raised."""
    read = []
    for row in read_gazette(data):
        if isinstance(row, Refused):
            raise row
        read.append(row)
    return read


def read(xml: str) -> dict[str, Any]:
    (row,) = rows((_DECLARATION + xml).encode())
    return row


def record(xml: str) -> dict[str, Any]:
    return read_publication(read(xml), is_marked_up=False)


def test_a_publication_in_st96() -> None:
    row = read(ST96)
    assert {name: row[name] for name in ("pub_id", "app_id", "exam_id", "country")} == {
        "pub_id": "特開2023-123456",
        "app_id": "特願2022-028001",
        "exam_id": None,
        "country": "JP",
    }
    assert (row["filing_date"], row["publication_date"]) == ("2022-02-25", "2023-09-05")
    assert row["title"] == "車線維持装置"
    assert row["fi"] == ["B60W30/12,624", "G05D1/02@K", "G08G1/16@C"]
    assert row["ipc"] == ["B60W30/12", "G08G1/16"]
    assert row["ft"] == ["5B089AA01", "5B089CA13"]
    assert row["applicant"] == ["標自動車株式会社", "国立大学法人架空大学"]
    assert row["inventor"] == ["山田　太郎", "鈴木　花子"]
    assert row["abst"].splitlines() == [
        "【課題】雪道で車線を維持する。",
        "【解決手段】轍を検出する。",
        "【選択図】図１",
    ]


def test_a_description_keeps_its_headings_and_has_a_paragraph_a_line() -> None:
    assert read(ST96)["desc"].splitlines() == [
        "【技術分野】",
        "本開示は、車線維持装置に関する。",
        "【背景技術】",
        "従来、白線を検出して操舵する装置が知られている。",
        "【先行技術文献】",
        "【特許文献】",
        "特開２０１０－１２３４５６号公報",
        "【発明の概要】",
        "【発明が解決しようとする課題】",
        "雪で白線が隠れると、車線を維持できない。",
        "【課題を解決するための手段】",
        "轍を検出する。",
        "【発明の効果】",
        "本開示によれば、雪道でも車線を維持できる。",
        "【発明を実施するための形態】",
        "＜第１実施形態＞",
        "図１に示すように、車両１０は、検出部２０を有する。 ＣＯ２は減る。",
        "【符号の説明】",
        "１０　車両 ２０　検出部",
    ]


def test_what_becomes_of_a_publication_in_st96() -> None:
    made = record(ST96)
    assert made["doc_id"] == made["app_doc_id"] == "JP2022028001"
    assert made["pub_id"] == "JP2023-123456A"
    assert made["fi_full"] == ["B60W30/12,624", "G05D1/02@K", "G08G1/16@C"]
    assert made["fi_norm"] == ["B60W30/12", "G05D1/02", "G08G1/16"]
    assert made["claims"] == [
        "路面の轍を検出する検出部と、\n前記轍に沿って車両を操舵する操舵部と、\nを備える、車線維持装置。",
        "前記検出部は、カメラを有する、請求項１に記載の車線維持装置。",
        "請求項１または２に記載の車線維持装置を備える車両。",
        "路面の轍を検出し、前記轍に沿って操舵する方法。",
    ]
    assert independent_claims(made["claims"]) == [made["claims"][0], made["claims"][3]]
    assert background(made["desc"]).splitlines() == [
        "従来、白線を検出して操舵する装置が知られている。",
        "雪で白線が隠れると、車線を維持できない。",
        "本開示によれば、雪道でも車線を維持できる。",
    ]


def test_a_publication_in_st36() -> None:
    row = read(ST36)
    assert (row["pub_id"], row["app_id"], row["exam_id"]) == ("特開2017-200451", "特願2016-094567", None)
    assert (row["filing_date"], row["publication_date"]) == ("2016-05-10", "2017-11-09")
    assert row["title"] == "草刈機"
    assert row["fi"] == ["A01D34/13@A", "A01D34/64,101@Z", "B60K6/54@ZHV"]
    assert row["ipc"] == ["A01D34/13", "A01D34/64"]
    assert row["ft"] == ["2B083AA02", "2B083BA18"]
    assert (row["applicant"], row["inventor"]) == (["標農機株式会社"], ["佐藤　一郎"])
    assert row["abst"] == "【課題】切れ味のよい草刈機を提供する。\n【解決手段】刃１を二重にする。"
    assert row["desc"].splitlines() == [
        "【技術分野】",
        "本発明は草刈機に関する。",
        "【背景技術】",
        "従来の草刈機は刃が一枚である。",
        "刃は摩耗する。",
        "【先行技術文献】",
        "【特許文献】",
        "特許第３００００００号公報",
        "【発明の概要】",
        "【発明が解決しようとする課題】",
        "一枚の刃は切れ味が続かない。",
        "【課題を解決するための手段】",
        "刃を二重にする。",
        "【発明の効果】",
        "切れ味が続く。",
        "【発明を実施するための形態】",
        "刃１は鋼である。",
        "【実施例】",
        "例１。",
    ]


def test_what_becomes_of_a_publication_in_st36() -> None:
    made = record(ST36)
    assert (made["doc_id"], made["pub_id"]) == ("JP2016094567", "JP2017-200451A")
    assert made["fi_norm"] == ["A01D34/13", "A01D34/64", "B60K6/54"]
    assert made["claims"] == ["二重の刃を備える草刈機。", "前記刃は鋼である請求項１に記載の草刈機。"]
    assert background(made["desc"]).splitlines() == [
        "従来の草刈機は刃が一枚である。",
        "刃は摩耗する。",
        "一枚の刃は切れ味が続かない。",
        "切れ味が続く。",
    ]


@pytest.mark.parametrize(
    ("number", "kind", "pub_id", "exam_id"),
    [
        ("2017200451", "公開特許公報(A)", "特開2017-200451", None),
        ("2017-200451", "公開特許公報(A)", "特開2017-200451", None),
        ("２０１７２００４５１", "公開特許公報（Ａ）", "特開2017-200451", None),
        ("2017500001", "公開特許公報(A)", "特表2017-500001", None),
        ("２０１７−５００００１", "公開特許公報(A)", "特表2017-500001", None),
        ("平10-12345", "公開特許公報(A)", "特開1998-012345", None),
        ("2017500000", "公開特許公報(A)", "特開2017-500000", None),
        ("2017499999", "公表特許公報(A)", "特表2017-499999", None),
        ("2017499999", "T", "特表2017-499999", None),
        ("特表2017-512345", "公表特許公報(A)", "特表2017-512345", None),
        ("WO2017/123456", "再公表特許(A1)", "WO2017/123456", None),
        ("2017123456", "再公表特許(A1)", "再表2017-123456", None),
        ("7123456", "特許公報(B2)", None, "特許第7123456号"),
        ("7123456", "B2", None, "特許第7123456号"),
        ("0007123456", "特許公報（Ｂ１）", None, "特許第7123456号"),
    ],
)
def test_a_number_says_what_it_is_of(number: str, kind: str, pub_id: str | None, exam_id: str | None) -> None:
    xml = ST36.replace("2017200451", number).replace("公開特許公報(A)", kind)
    row = read(xml.replace('kind-of-jp="A" kind-of-st16="A"', ""))
    assert (row["pub_id"], row["exam_id"]) == (pub_id, exam_id)
    assert record(xml.replace('kind-of-jp="A" kind-of-st16="A"', ""))["doc_id"] == "JP2016094567"


def test_a_number_alone_says_whether_it_is_a_patent() -> None:
    bare = ST36.replace('kind-of-jp="A" kind-of-st16="A"', "").replace("<kind>公開特許公報(A)</kind>", "")
    assert read(bare)["pub_id"] == "特開2017-200451"
    assert read(bare.replace("2017200451", "6543210"))["exam_id"] == "特許第6543210号"


def test_a_patent_in_st96_keeps_the_number_under_which_it_was_published_first() -> None:
    before = (
        "<jppat:PreviousPublishedDocument><pat:PublicationNumber>2021512345</pat:PublicationNumber>"
        "<com:PublicationDate>2021-05-13</com:PublicationDate></jppat:PreviousPublishedDocument>"
    )
    xml = (
        ST96.replace("UnexaminedPatentPublication", "RegisteredPatentPublication")
        .replace("公開特許公報(A)", "特許公報(B2)")
        .replace(
            "<jppat:PatentPublicationIdentification>", f"{before}<jppat:PatentPublicationIdentification>"
        )
        .replace("2023123456", "7123456")
    )
    row = read(xml)
    assert (row["pub_id"], row["exam_id"]) == ("特表2021-512345", "特許第7123456号")
    assert row["publication_date"] == "2023-09-05"
    made = record(xml)
    assert (made["doc_id"], made["exam_id"]) == ("JP2022028001", "JP7123456B")


def test_a_national_publication_in_st96_goes_by_its_root() -> None:
    xml = ST96.replace("UnexaminedPatentPublication", "InternationalPatentPublication")
    wo = (
        "<jppat:InternationalPublishingData><jppat:PatentPublicationIdentification>"
        "<pat:PublicationNumber>WO2022111111</pat:PublicationNumber>"
        "</jppat:PatentPublicationIdentification></jppat:InternationalPublishingData>"
    )
    xml = xml.replace(
        "<jppat:PatentPublicationIdentification>", f"{wo}<jppat:PatentPublicationIdentification>", 1
    )
    assert read(xml)["pub_id"] == "特表2023-123456"


def test_a_publication_with_a_grant_has_both_numbers() -> None:
    grant = (
        "<pat:PatentGrantIdentification><pat:PatentNumber>7123456</pat:PatentNumber>"
        "</pat:PatentGrantIdentification>"
    )
    row = read(ST96.replace("<pat:InventionTitle>", f"{grant}<pat:InventionTitle>", 1))
    assert (row["pub_id"], row["exam_id"]) == ("特開2023-123456", "特許第7123456号")


@pytest.mark.parametrize(
    ("written", "fi"),
    [
        ("B60W30/12,624", "B60W30/12,624"),
        ("G05D1/02@K", "G05D1/02@K"),
        ("B60W  30/12        624", "B60W30/12,624"),
        ("B60W  30/12        624A", "B60W30/12,624@A"),
        ("Ｂ６０Ｗ　３０／１２　６２４　Ａ", "B60W30/12,624@A"),
        ("G06F   3/041      422", "G06F3/041,422"),
        ("G06F3/041A", "G06F3/041@A"),
        ("B60K   6/54      D ZHV", "B60K6/54@D@ZHV"),
        ("C12N  15/09    ZNA", "C12N15/09@ZNA"),
        ("A01D  34/13        20060101", "A01D34/13"),
        ("F16H  59:44", "F16H59:44"),
        ("Ｆ１６Ｈ　５９：４４", "F16H59:44"),
    ],
)
def test_a_padded_symbol_is_written_as_it_is_searched(written: str, fi: str) -> None:
    assert read(ST36.replace("A01D  34/13        A", written))["fi"][0] == fi


@pytest.mark.parametrize(
    ("written", "day"),
    [("20171109", "2017-11-09"), ("２０１７１１０９", "2017-11-09"), ("2017-11-09+09:00", "2017-11-09")],
)
def test_a_day_is_written_with_hyphens(written: str, day: str) -> None:
    xml = ST36.replace("20171109", written)
    assert read(xml)["publication_date"] == record(xml)["publication_date"] == day


def test_prefixes_namespaces_and_wrappers_do_not_matter() -> None:
    plain = ST96.replace("ST96/", "ST96/V9/")
    for prefix in ("jppat", "jpcom", "pat", "com"):
        plain = plain.replace(f"xmlns:{prefix}=", f"xmlns:x{prefix}=").replace(f"<{prefix}:", f"<x{prefix}:")
        plain = plain.replace(f"</{prefix}:", f"</x{prefix}:").replace(f" {prefix}:", f" x{prefix}:")
    wrapped = plain.replace("<xpat:Claims>", "<Body><xpat:Claims>", 1).replace(
        "</xpat:Claims>", "</xpat:Claims></Body>", 1
    )
    assert read(wrapped) == read(ST96)


def test_a_generic_publication_of_st96() -> None:
    row = read(
        f"""<pat:JPPatentPublication {_NAMESPACES}><pat:BibliographicData>
        <pat:PatentPublicationIdentification><com:IPOfficeCode>JP</com:IPOfficeCode>
        <pat:PublicationNumber>2023-000123</pat:PublicationNumber>
        <com:PatentDocumentKindCode>A</com:PatentDocumentKindCode>
        <com:PublicationDate>2023-01-05</com:PublicationDate></pat:PatentPublicationIdentification>
        <pat:InventionTitle>標識</pat:InventionTitle>
        <pat:IPCRClassificationBag><pat:IPCRClassification>
        <pat:PatentClassificationText>G09F 13/00</pat:PatentClassificationText>
        </pat:IPCRClassification></pat:IPCRClassificationBag>
        <pat:FileIndexText>G09F13/00@A</pat:FileIndexText><pat:FTermText>5C096AA01</pat:FTermText>
        <pat:ApplicantBag><pat:Applicant><com:Contact><com:Name><com:OrganizationName>
        <com:OrganizationStandardName>標工業株式会社</com:OrganizationStandardName>
        </com:OrganizationName></com:Name></com:Contact></pat:Applicant></pat:ApplicantBag>
        <pat:InventorBag><pat:Inventor><com:Contact><com:Name><com:PersonName>
        <com:PersonFullName>田中次郎</com:PersonFullName>
        </com:PersonName></com:Name></com:Contact></pat:Inventor></pat:InventorBag>
        </pat:BibliographicData>
        <pat:Description><com:Heading>背景技術</com:Heading><com:P>暗い。</com:P>
        <com:Heading>【発明の効果】</com:Heading><com:P>明るい。</com:P></pat:Description>
        </pat:JPPatentPublication>"""
    )
    assert (row["pub_id"], row["app_id"]) == ("特開2023-000123", None)
    assert (row["ipc"], row["fi"], row["ft"]) == (["G09F13/00"], ["G09F13/00@A"], ["5C096AA01"])
    assert (row["applicant"], row["inventor"]) == (["標工業株式会社"], ["田中次郎"])
    assert background(row["desc"]) == "暗い。\n明るい。"
    assert read_publication(row)["doc_id"] == "JP2023-000123A"


def test_several_publications_in_one_file() -> None:
    second = ST36.replace("2017200451", "2017200452").replace("2016094567", "2016094568")
    found = rows(f"<gazettes><part>{ST36}</part>{second}{ST96}</gazettes>".encode())
    assert [row["pub_id"] for row in found] == ["特開2017-200451", "特開2017-200452", "特開2023-123456"]
    assert len({read_publication(row)["doc_id"] for row in found}) == 3


def test_one_that_is_refused_refuses_no_other_of_its_file() -> None:
    model = ST36.replace('kind-of-jp="A"', 'kind-of-jp="U"')
    first, refused, last = read_gazette(f"<gazettes>{ST36}{model}{ST96}</gazettes>".encode())
    assert isinstance(refused, Refused)
    assert "utility model" in refused.reason
    assert isinstance(first, dict)
    assert isinstance(last, dict)
    assert (first["pub_id"], last["pub_id"]) == ("特開2017-200451", "特開2023-123456")


def test_a_comparison_in_a_gazette_is_no_tag() -> None:
    row = record(ST36.replace("　刃は摩耗する。", "刃はＴ１&lt;b&gt;Ｔ２である。"))
    assert "刃はＴ１<b>Ｔ２である。" in row["desc"].splitlines()


@pytest.mark.parametrize(
    ("declared", "encoding", "name"),
    [
        ("Shift_JIS", "cp932", "㈱標～農機①"),
        ("Windows-31J", "cp932", "㈱標～農機①"),
        ("EUC-JP", "euc_jp", "標農機"),
        ("UTF-8", "utf-8", "㈱標～農機①𠮷"),
        ("UTF-8", "utf-8-sig", "標農機"),
        ("UTF-16", "utf-16", "標農機"),
    ],
)
def test_the_declared_encoding_is_read(declared: str, encoding: str, name: str) -> None:
    xml = f'<?xml version="1.0" encoding="{declared}"?>\n' + ST36.replace("標農機株式会社", name)
    (row,) = rows(xml.encode(encoding))
    assert row["applicant"] == [name]
    assert row["desc"] == read(ST36)["desc"]


def test_latin_words_do_not_grow_together_where_a_line_ends() -> None:
    row = read(ST36.replace("　刃は摩耗する。", "JIS Z\n  8301 の\n  刃は\n  摩耗する。"))
    assert "JIS Z 8301 の刃は摩耗する。" in row["desc"].splitlines()


def test_escaped_tags_references_and_comments() -> None:
    row = read(ST36.replace("　刃は摩耗する。", "<!-- 注 -->&lt;a&gt;&amp;<![CDATA[<b>]]>&#x5203;<?pi?>。"))
    assert "<a>&<b>刃。" in row["desc"].splitlines()


def test_a_table_keeps_its_cells_apart() -> None:
    cells = "<tables><table><row><entry>甲</entry><entry>乙</entry></row></table></tables>"
    assert (
        "表は 甲 乙 である。" in read(ST36.replace("　刃は摩耗する。", f"表は{cells}<br/>である。"))["desc"]
    )


def test_nothing_is_included_from_elsewhere(tmp_path: Path) -> None:
    secret = tmp_path / "secret.txt"
    secret.write_text("秘密")
    include = (
        f'<xi:include xmlns:xi="http://www.w3.org/2001/XInclude" href="{secret.as_uri()}" parse="text"/>'
    )
    assert "秘密" not in str(read(ST36.replace("　刃は摩耗する。", f"刃{include}。")))


LAUGHS = (
    '<!DOCTYPE l [<!ENTITY l0 "ha">'
    + "".join(f'<!ENTITY l{at} "{f"&l{at - 1};" * 10}">' for at in range(1, 12))
    + "]><jp-official-gazette><description><p>&l11;</p></description></jp-official-gazette>"
)
EXTERNAL = (
    '<!DOCTYPE g [<!ENTITY x SYSTEM "file:///secret">]>'
    "<jp-official-gazette><description><p>&x;</p></description></jp-official-gazette>"
)
PARAMETER = '<!DOCTYPE g [<!ENTITY % x SYSTEM "http://example.invalid/x.dtd"> %x;]><jp-official-gazette/>'
OFFICE = (
    '<!DOCTYPE jp-official-gazette PUBLIC "-//JPO//DTD PUBLISHED PATENT/UTILITY MODEL APPLICATION 1.0//EN" '
    '"../../../../../DTD/gat-a.dtd">'
)
PLAIN = OFFICE + ST36
DEEP = "<a>" * 10_000 + "</a>" * 10_000


@pytest.mark.parametrize(
    ("data", "reason"),
    [
        (LAUGHS.encode(), "DOCTYPE"),
        (EXTERNAL.encode(), "DOCTYPE"),
        (PARAMETER.encode(), "DOCTYPE"),
        (PLAIN.replace("-//JPO//", "-//W3C//").encode(), "DOCTYPE"),
        (PLAIN.replace("-//JPO//", "x-//JPO//").encode(), "DOCTYPE"),
        (PLAIN.replace('gat-a.dtd">', 'gat-a.dtd" [<!ENTITY x "y">]>').encode(), "DOCTYPE"),
        (PLAIN.replace('gat-a.dtd">', 'gat-a.dtd"[]>').encode(), "DOCTYPE"),
        (f'<!DOCTYPE jp-official-gazette SYSTEM "gat-a.dtd">{ST36}'.encode(), "DOCTYPE"),
        (f"<!DOCTYPE jp-official-gazette>{ST36}".encode(), "DOCTYPE"),
        ((OFFICE + LAUGHS).encode(), "two document type declarations"),
        ((OFFICE + OFFICE + ST36).encode(), "two document type declarations"),
        (PLAIN.replace("　刃は摩耗する。", "&x;").encode(), "line"),
        ((_DECLARATION + "<?a ?>\n<!-- <a> -->\n <!-- -->" + LAUGHS).encode(), "DOCTYPE"),
        (('<?xml version="1.0" encoding="UTF-16"?>' + LAUGHS).encode("utf-16"), "DOCTYPE"),
        (("<?a ?>" * 50_000 + "<a/>").encode(), "neither"),
        ((" " * 5_000_000 + "<a/>").encode(), "neither"),
        (DEEP.encode(), "line 1"),
        (f"<jp-official-gazette>{DEEP}</jp-official-gazette>".encode(), "line 1"),
        (b"", "line 1"),
        (b" \n", "XML"),
        (b"%PDF-1.7", "line 1"),
        (b"PK\x03\x04\x00\x00", "binary"),
        ("特許公報".encode(), "line 1"),
        (ST36.encode("utf-8")[:-30], "line"),
        (ST36.replace("<kind>", "<kind>\udce9").encode("utf-8", "surrogateescape"), "UTF-8"),
        (b"<jp-official-gazette><p>&alpha;</p></jp-official-gazette>", "line 1"),
        (b"<html><body>2023</body></html>", "neither"),
        (f"<jppat:UnexaminedPatentPublicationAmendment {_NAMESPACES}/>".encode(), "neither"),
        (b"<ST26SequenceListing/>", "neither"),
        (ST36.replace('kind-of-jp="A"', 'kind-of-jp="U"').encode(), "utility model"),
        (ST36.replace("公開特許公報(A)", "登録実用新案公報(U)").encode(), "utility model"),
        (ST36.replace('kind-of-st16="A"', 'kind-of-st16="A5"').encode(), "amendment"),
        (ST96.replace(">JP</com:IPOfficeCode>", ">US</com:IPOfficeCode>").encode(), "Japan Patent Office"),
        (b"<p>" * 17_000_000, "larger"),
        (b"<p>" + b"<p/>" * 1_000_000 + b"</p>", "elements"),
    ],
    ids=lambda value: value if isinstance(value, str) else "",
)
def test_what_cannot_be_taken_is_refused_at_once(data: bytes, reason: str) -> None:
    began = time.process_time()
    with pytest.raises(Refused) as refused:
        rows(data)
    assert time.process_time() - began < 5
    assert reason in refused.value.reason
    assert refused.value.ja


@pytest.mark.parametrize("declaration", [OFFICE, OFFICE.replace('"', "'"), OFFICE.replace(" ", "\n")])
def test_the_declaration_of_the_office_s_own_gazettes_is_passed_over(declaration: str) -> None:
    """And its DTD is never looked for."""
    assert read("<?a ?>\n<!-- <a> -->\n <!-- -->" + declaration + ST36) == read(ST36)


def test_a_break_behind_the_declaration_has_its_own_line() -> None:
    with pytest.raises(Refused) as refused:
        read_gazette((OFFICE.replace(" ", "\n") + "<jp-official-gazette>\n</a>").encode())
    assert f"at line {OFFICE.count(' ') + 2}:" in refused.value.reason


def test_a_broken_file_is_refused_with_the_line_of_the_break() -> None:
    with pytest.raises(Refused) as refused:
        read_gazette(b"<jp-official-gazette>\n<a>\n</b>\n</jp-official-gazette>")
    assert refused.value.reason.startswith("not readable as XML at line 3:")
    assert refused.value.ja.startswith("3 行目で")


def test_a_wide_file_is_read_in_time_that_grows_with_it() -> None:
    began = time.process_time()
    row = read(ST36.replace("　刃は摩耗する。", "<sub/>刃<br/>" * 200_000))
    assert time.process_time() - began < 50
    assert row["desc"].count("刃 ") > 190_000


def test_a_publication_without_text_has_a_row_that_is_refused() -> None:
    (row,) = rows(b"<jp-official-gazette/>")
    with pytest.raises(Refused):
        read_publication(row)


@given(st.integers(min_value=0, max_value=len(ST36.encode()) - 1))
def test_a_file_cut_anywhere_is_refused(end: int) -> None:
    with pytest.raises(Refused):
        read_gazette(ST36.encode()[:end])


@given(st.binary(max_size=200))
def test_any_bytes_are_rows_or_refused(data: bytes) -> None:
    with suppress(Refused):
        read_gazette(data)


@given(st.text(max_size=40), st.text(max_size=40), st.text(max_size=40))
def test_any_number_and_code_makes_a_row(number: str, kind: str, fi: str) -> None:
    def escaped(text: str) -> str:
        legal = "".join(each for each in text if each.isprintable())
        return legal.replace("&", "&amp;").replace("<", "&lt;")

    xml = ST36.replace("2017200451", escaped(number)).replace("A01D  34/13        A", escaped(fi))
    try:
        row = read(xml.replace("公開特許公報(A)", escaped(kind)))
    except Refused:
        return
    assert set(row) == set(read(ST96))
