"""Candidates for glitch tokens, compared with a list that was published for GPT-2's vocabulary."""

import pytest
import tiktoken

import tokbench
from tokbench.inspect.examine import examine
from tokbench.inspect.glitch import Never
from tokbench.inspect.usage import corpus_use
from tokbench_plugins.bpe.tokenizer import BPETokenizer

WATKINS = """
wcsstore| practition| Dragonbound| guiActive| davidjl|覚醒|ForgeModLoader| 裏覚醒|PsyNetMessage| guiActiveUn| guiName
| externalTo| unfocusedRange| guiActiveUnfocused| guiIcon| externalToEVA| externalToEVAOnly|reportprint
|embedreportprint|cloneembedreportprint|rawdownload|rawdownloadcloneembedreportprint|SpaceEngineers
|externalActionCode|?????-?????-|ーン|cffff|MpServer| gmaxwell|cffffcc| "$:/| Smartstocks|":[{"|龍喚士|":"","| attRot
| Mechdragon| PsyNet| RandomRedditor| RandomRedditorWithNo|ertodd| sqor| istg| petertodd|StreamerBot|TPPStreamerBot
|FactoryReloaded| partName| Skydragon|iHUD|catentry|ItemThumbnailImage| UCHIJ| SetFontSize|DeliveryDate|quickShip
|quickShipAvailable|isSpecialOrderable|inventoryQuantity|channelAvailability|soType|soDeliveryDate|龍契士|oreAndOnline
|InstoreAndOnline|BuyableInstoreAndOnline|natureconservancy|assetsadobe|Downloadha|Nitrome| TheNitrome| TheNitromeFan
|GoldMagikarp|DragonMagazine|TextColor| srfN| largeDownload| srfAttach|EStreamFrame|ゼウス| SolidGoldMagikarp|ーティ
| サーティ| サーティワン| Adinida|":""},{"|ItemTracker| DevOnline|@#&|EngineDebug| strutConnector| Leilan|uyomi|aterasu
|ÃÂ|ÃÂÃÂ|ÃÂÃÂÃÂÃÂ|ÃÂÃÂÃÂÃÂÃÂÃÂÃÂÃÂ|ÛÛ| TAMADRA|EStream|.[|\\.|"]=>|''.| "\\|\\">|\\-| --------|天|к|ュ|ヤ
"""
"""GPT-2: the list of "SolidGoldMagikarp III: Glitch token archaeology" (Watkins and Rumbelow 2023, lesswrong.com), but for
24 control characters, zero-width marks and the longest repeats."""

COMMON = [" the", "w", " w", " function", "ing", " of", "e", " people", " has", "The"]


@pytest.mark.slow
def test_a_published_list_is_among_the_candidates(data, monkeypatch):
    """On PUD, NTREX, a novel and plays; a list ordered by chance would have less than one in the first 50."""
    monkeypatch.setenv("TIKTOKEN_CACHE_DIR", str(data / "tiktoken_cache"))
    paths = sorted(path for folder in ("pud", "ntrex", "text") for path in (data / folder).glob("*.txt"))
    texts = [line for path in paths for line in path.read_text(encoding="utf-8").splitlines()]
    found = [token.text for token in corpus_use(tokbench.load("tiktoken", encoding="gpt2"), texts).candidates]
    known = WATKINS.strip("\n").replace("\n", "").split("|")
    for token in [*known, *COMMON]:
        tiktoken.get_encoding("gpt2").encode_single_token(token)  # a KeyError if it is no token
    assert len(found) == 23_743
    assert not {*COMMON} & {*found}
    assert {*known} - {*found} == {" practition", ".[", "天", "к"}, "what these texts do make"
    within = {most: len({*found[:most]} & {*known}) for most in (50, 500, 5000)}
    assert within == {50: 33, 500: 55, 5000: 80}


def test_what_texts_never_make_is_sorted_by_kind():
    # ab, abc, yz, xy, xyz (never, as yz comes first), e2 82, yzz
    merges = [(97, 98), (256, 99), (121, 122), (120, 121), (259, 122), (226, 130), (258, 122)]
    tokenizer = BPETokenizer(merges, special_tokens={"<end>": 263}, engine="python")
    health = examine(tokenizer)
    use = corpus_use(tokenizer, ["abc abc", "c"], health.unreachable)
    assert [(token.id, token.text, token.remark) for token in use.candidates] == [
        (259, "xy", "1 merge from 'xyz'"),
        (262, "yzz", "4 merges from 'yz'"),
        (258, "yz", "4 merges from 'yzz'"),
    ]
    apart = {kind: [token.id for token in tokens] for kind, tokens in use.apart.items()}
    assert apart["scaffold"] == [97, 98, 256]
    assert apart[Never.SPECIAL] == [263]
    assert apart[Never.FRAGMENT] == [261]
    assert set(apart[Never.UNREACHABLE]) == {0xC0, 0xC1, *range(0xF5, 0x100), 260}
    assert {0, 120, 0xE2} < set(apart[Never.SINGLE_BYTE]) < set(range(256))
    sorted_ids = [i for ids in apart.values() for i in ids] + [token.id for token in use.candidates]
    assert len(sorted_ids) == len(set(sorted_ids)) == use.classes["unseen"] + use.classes["scaffold"]


def test_without_merges_the_longest_come_first(data):
    tokenizer = tokbench.load("sentencepiece", path=str(data / "spm" / "t5_base.model"))
    use = corpus_use(tokenizer, ["The house is wonderful."])
    lengths = [len(token.text.encode()) for token in use.candidates]
    assert lengths == sorted(lengths, reverse=True)
    assert all(not token.remark for token in use.candidates)
    assert " house" not in [token.text for token in use.candidates]
    assert "scaffold" not in use.apart
