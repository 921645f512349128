"""Words whose full stop need not end a sentence. All in lower case, without their last full stop."""

from __future__ import annotations

NEVER_LAST = frozenset(
    """
    mr mrs ms dr prof st mt ft gen col capt lt sgt rev hon gov sen rep pres messrs mme mlle supt
    vs e.g i.e eg ie cf approx ca viz al incl excl max min avg
    z.b d.h u.a bzw ggf
    """.split()  # noqa: SIM905
)
"""Something follows always."""

BEFORE_NUMBERS = frozenset(
    """
    no nos nr fig figs vol ch chap sec art p pp op ver v ex par para pt tel ext
    jan feb mar apr jun jul aug sep sept oct nov dec
    """.split()  # noqa: SIM905
)
"""A full stop of theirs ends the sentence unless a number follows: ``No. 5``, but ``No. I won't.``"""

MAY_BE_LAST = frozenset(
    "etc inc ltd co corp jr sr bros dept est ave blvd rd mon tue tues wed thu thur thurs fri sat sun".split()  # noqa: SIM905
)
"""They end a sentence if the next word is one that sentences begin with."""

STARTERS = frozenset(
    """
    a an the this that these those there here it its i i'm i'll i've i'd it's that's there's he she we you they
    he's she's we're you're they're my your his her our their what when where why who how which
    and but or so if in on at as for from with after before because while although however then now
    yes no not please let let's do don't can could would should will is are was were did does has have
    also still just maybe perhaps well okay ok sorry thanks today tomorrow yesterday tonight
    next first second finally instead meanwhile overall
    """.split()  # noqa: SIM905
)
"""Words that begin sentences far more often than they are part of a name."""
