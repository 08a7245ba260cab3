"""Splits, texts and merges on which encoders of byte-level BPE are compared."""

from hypothesis import strategies as st

from tokbench_plugins.bpe import FIRST_MERGE, PATTERNS

SPLITS = [None, *PATTERNS, r"[^b]+"]
TEXT = st.one_of(
    st.text(alphabet="ab", max_size=80), st.text(alphabet="abA's 1\n\té🙂", max_size=80), st.text(max_size=30)
)


@st.composite
def made_by_hand(draw):
    """Merges that no training gives: unreachable ones, and several ways to the same bytes."""
    merges = []
    for made in range(FIRST_MERGE, FIRST_MERGE + draw(st.integers(0, 12))):
        known = st.sampled_from([97, 98, *range(FIRST_MERGE, made)])
        pair = draw(st.tuples(known, known))
        if pair in merges:
            break
        merges.append(pair)
    return merges
