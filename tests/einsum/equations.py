"""Equations with sizes: the kinds that the documentation and the tests of NumPy, PyTorch and opt_einsum exercise."""

from __future__ import annotations

import re
import string


def in_letters(equation: str) -> str:
    """The same equation with ASCII letters for labels, for peers that know no others; the labels keep their order."""
    numbers = sorted({int(number) for number in re.findall(r"\d+", equation)})
    letters = sorted({c for c in equation if c.isalpha() or c > "\x7f"})
    if "[" not in equation and set(letters) <= set(string.ascii_letters):
        return equation
    names = iter(sorted(string.ascii_letters))
    by_letter = {letter: next(names) for letter in letters}
    by_number = {str(number): next(names) for number in numbers}
    parts = re.findall(r"\[[^]]*\]|.", equation)
    return "".join(
        "".join(by_number.get(member, member) for member in re.findall(r"\d+|\.\.\.", part))
        if part.startswith("[")
        else by_letter.get(part, part)
        for part in parts
    )


# (equation, shape of each operand)
EQUATIONS: list[tuple[str, tuple[tuple[int, ...], ...]]] = [
    # one operand: sums, traces, diagonals, permutations
    ("i->", ((5,),)),
    ("i->i", ((5,),)),
    ("i", ((5,),)),
    ("ij->", ((3, 4),)),
    ("ij->i", ((3, 4),)),
    ("ij->j", ((3, 4),)),
    ("ij->ji", ((3, 4),)),
    ("ba", ((3, 4),)),
    ("ii", ((4, 4),)),
    ("ii->i", ((4, 4),)),
    ("iij->j", ((3, 3, 4),)),
    ("iij->ij", ((3, 3, 4),)),
    ("iji->j", ((3, 4, 3),)),
    ("iii->i", ((3, 3, 3),)),
    ("iijj->", ((3, 3, 2, 2),)),
    ("ijij->ij", ((3, 2, 3, 2),)),
    ("aabbcc->cba", ((2, 2, 3, 3, 4, 4),)),
    ("...", ((2, 3),)),
    ("...->...", ((2, 3),)),
    ("...j->...", ((2, 3, 4),)),
    ("i...->...", ((2, 3, 4),)),
    ("i...->i", ((2, 3, 4),)),
    ("...ii->...i", ((2, 3, 3),)),
    ("...ij->...ji", ((2, 3, 4),)),
    ("...ij->ij", ((2, 3, 4),)),
    ("...->", ((2, 3),)),
    ("i...j->j...i", ((2, 3, 4, 5),)),
    ("", ((),)),
    ("->", ((),)),
    ("...", ((),)),
    # two operands: products of vectors and matrices
    ("i,i", ((5,), (5,))),
    ("i,i->", ((5,), (5,))),
    ("i,i->i", ((5,), (5,))),
    ("i,j", ((3,), (4,))),
    ("i,j->ji", ((3,), (4,))),
    ("i,j->", ((3,), (4,))),
    ("i,j->i", ((3,), (4,))),
    (",ij", ((), (3, 4))),
    ("ij,", ((3, 4), ())),
    (",", ((), ())),
    ("ij,j", ((3, 4), (4,))),
    ("ij,i->j", ((3, 4), (3,))),
    ("ij,jk", ((3, 4), (4, 5))),
    ("ij,jk->ik", ((3, 4), (4, 5))),
    ("ij,jk->ki", ((3, 4), (4, 5))),
    ("ij,kj->ik", ((3, 4), (5, 4))),
    ("ji,jk->ik", ((4, 3), (4, 5))),
    ("ji,kj->ki", ((4, 3), (5, 4))),
    ("ij,jk->", ((3, 4), (4, 5))),
    ("ij,jk->j", ((3, 4), (4, 5))),
    ("ij,jk->ijk", ((3, 4), (4, 5))),
    ("ij,ij->ij", ((3, 4), (3, 4))),
    ("ij,ij->", ((3, 4), (3, 4))),
    ("ij,ji->", ((3, 4), (4, 3))),
    ("ij,kl->ijkl", ((2, 3), (4, 5))),
    ("ij,kl->lkji", ((2, 3), (4, 5))),
    ("ii,jj->ij", ((3, 3), (4, 4))),
    ("ii,ij->j", ((3, 3), (3, 4))),
    ("ijk,jil->kl", ((3, 4, 5), (4, 3, 2))),
    ("ijk,ilm,njm->nlk", ((2, 3, 4), (2, 5, 6), (7, 3, 6))),
    # batches
    ("bij,bjk->bik", ((3, 4, 5), (3, 5, 6))),
    ("bij,bkj->bik", ((3, 4, 5), (3, 6, 5))),
    ("ijb,jkb->bki", ((4, 5, 3), (5, 6, 3))),
    ("bi,bi->b", ((3, 40), (3, 40))),
    ("bi,bj->bij", ((3, 4), (3, 5))),
    ("bhqd,bhkd->bhqk", ((2, 3, 4, 5), (2, 3, 6, 5))),
    ("bqhd,bkhd->bhqk", ((2, 4, 3, 5), (2, 6, 3, 5))),
    ("bhqk,bkhd->bqhd", ((2, 3, 4, 6), (2, 6, 3, 5))),
    ("qij,qjk->qik", ((50, 4, 4), (50, 4, 4))),
    ("ac,abc->cb", ((2, 70), (2, 9, 70))),
    # ellipsis
    ("...ij,...jk->...ik", ((2, 3, 4), (4, 5))),
    ("...ij,...jk", ((2, 1, 3, 4), (6, 4, 5))),
    ("ki,...k->i...", ((3, 4), (2, 5, 3))),
    ("k...,jk", ((3, 2), (4, 3))),
    ("k...,jk->j...", ((3, 2, 5), (4, 3))),
    ("...i,...i", ((2, 3), (3,))),
    ("...,...", ((2, 3), (3,))),
    ("..., ...", ((), (2, 3))),
    ("i...,...j->ij...", ((2, 3), (3, 4))),
    ("a...b,b...c->a...c", ((2, 3, 4), (4, 3, 5))),
    ("...a,...b->...", ((2, 3), (2, 4))),
    # sizes of 1 broadcast
    ("ij,jk->ik", ((3, 1), (4, 5))),
    ("ij,ij->ij", ((3, 1), (1, 4))),
    ("ij,ij->", ((1, 4), (3, 1))),
    ("bij,bjk->bik", ((1, 3, 4), (5, 4, 2))),
    # spaces, and upper case in front of lower case
    (" i j , j k -> i k ", ((3, 4), (4, 5))),
    ("bA,Ac", ((3, 4), (4, 5))),
    ("zB,Ba", ((3, 4), (4, 5))),
    # several operands
    ("i,i,i", ((4,), (4,), (4,))),
    ("i,j,k->kji", ((2,), (3,), (4,))),
    ("ij,jk,kl->il", ((3, 4), (4, 5), (5, 6))),
    ("ij,jk,kl->li", ((3, 4), (4, 5), (5, 6))),
    ("bn,anm,bm->ba", ((2, 3), (4, 3, 5), (2, 5))),
    ("ij,ij,ij->ij", ((3, 4), (3, 4), (3, 4))),
    ("ab,cd,ef->abcdef", ((2, 3), (2, 3), (2, 3))),
    ("ab,cd,de->abcde", ((2, 3), (2, 3), (3, 4))),
    ("ab,cd,cd,ef,ef->", ((2, 3), (2, 3), (2, 3), (4, 5), (4, 5))),
    ("ab,ab,c->c", ((2, 3), (2, 3), (4,))),
    ("abc,bac->", ((2, 3, 4), (3, 2, 4))),
    ("ea,fb,abcd,gc,hd->efgh", ((2, 3), (2, 3), (3, 3, 3, 3), (2, 3), (2, 3))),
    ("abcd,a,b,c,d->", ((2, 3, 4, 5), (2,), (3,), (4,), (5,))),
    ("ijk,il,jm,kn->lmn", ((2, 3, 4), (2, 5), (3, 6), (4, 2))),
    ("eb,cb,fb->cef", ((5, 4), (3, 4), (2, 4))),
    ("dd,fb,be,cdb->cef", ((3, 3), (2, 4), (4, 5), (6, 3, 4))),
    ("bca,cdb,dbf,afc->", ((2, 3, 4), (3, 5, 2), (5, 2, 6), (4, 6, 3))),
    ("dcc,fce,ea,dbf->ab", ((2, 3, 3), (4, 3, 5), (5, 6), (2, 7, 4))),
    ("a,ac,ab,ad,cd,bd,bc->", ((2,), (2, 3), (2, 4), (2, 5), (3, 5), (4, 5), (4, 3))),
    ("ij,i...,j...,k->k...", ((2, 3), (2, 4), (3, 4), (5,))),
    ("a,b,c,d,e,f,g,h,i,j->jihgfedcba", tuple((2,) for _ in range(10))),
    ("ab,bc,cd,de,ef,fg,gh,hi,ij,ja->", tuple((3, 3) for _ in range(10))),
    # any letter, and numbers
    ("äß,ßЖ->Жä", ((2, 3), (3, 4))),
    ("日本,本語", ((2, 3), (3, 4))),
    ("\u00d7\u00f7,\u00f7\U0001f600", ((2, 3), (3, 4))),
    ("[0,1],[1,2]", ((2, 3), (3, 4))),
    ("[10,2],[2,9]", ((2, 3), (3, 4))),
    ("[...,3],[3]->[...]", ((2, 4, 3), (3,))),
    ("z[0],[0]a", ((2, 3), (3, 4))),
    ("[0][ 1 ],[ 1,0 ]->", ((2, 3), (3, 2))),
    # nothing, and next to it
    ("ij,jk->ik", ((3, 0), (0, 4))),
    ("ij,jk->ik", ((0, 3), (3, 4))),
    ("i,i->", ((0,), (0,))),
    ("bij,bjk->bik", ((3, 4, 0), (3, 0, 5))),
    ("ij->i", ((3, 0),)),
    ("ij->j", ((0, 3),)),
    ("ij,jk,kl->il", ((2, 0), (0, 3), (3, 0))),
    ("ab,ab,c->", ((2, 3), (2, 3), (0,))),
    ("i,j->j", ((0,), (3,))),
    # in each operand something that is summed before the product
    ("xi,yi->i", ((3, 4), (5, 4))),
    ("xij,jky->ki", ((3, 4, 5), (5, 6, 2))),
    # beyond one block of the packed product, and long sums
    ("ij,jk->ik", ((150, 700), (700, 70))),
    ("ij,jk->ki", ((1100, 65), (65, 1030))),
    ("iaj,jka->ik", ((33, 40, 50), (50, 45, 40))),
    ("i,i->", ((100_000,), (100_000,))),
    ("ij,i->j", ((3000, 8), (3000,))),
    ("abk,kab->", ((3, 4, 9000), (9000, 3, 4))),
    ("xak,kby->abxy", ((5, 9, 2100), (2100, 7, 3))),
    # rows or columns in the order of what is read rather than of the result
    ("bda,dc->abc", ((40, 70, 50), (70, 24))),
    ("dca,bd->abc", ((70, 50, 40), (24, 70))),
    ("cadx,byd->abcy", ((20, 30, 90, 3), (4, 10, 90))),
]

UNEXPECTED = "equation has an unexpected {}; labels are letters, or numbers in brackets"
INSIDE = "equation has an unexpected '{}' in brackets, where {} belongs"

# (equation, shapes, class of the error, its text up to the equation, the equation as it is shown, the caret's column)
ERRORS: list[tuple[str, tuple[tuple[int, ...], ...], str, str, str, int]] = [
    ("ij,jk", ((2, 3),), "InvalidArgument", "equation names 2 operands, got 1", "", 0),
    ("ij", ((2, 3), (2, 3)), "InvalidArgument", "equation names 1 operand, got 2", "", 0),
    ("", (), "InvalidArgument", "operands must have at least one tensor", "", 0),
    ("i", ((2, 3),), "ShapeError", "operand 0 has 2 dims but 'i' names 1", "i", 0),
    ("ij,k", ((2, 3), ()), "ShapeError", "operand 1 has 0 dims but 'k' names 1", "ij,k", 3),
    ("ij,", ((2, 3), (2,)), "ShapeError", "operand 1 has 1 dim but '' names 0", "ij,", 3),
    ("ijk...", ((2, 3),), "ShapeError", "operand 0 has 2 dims but 'ijk...' names at least 3", "ijk...", 0),
    ("i j", ((2,),), "ShapeError", "operand 0 has 1 dim but 'ij' names 2", "i j", 0),
    ("[0, 12]", ((2,),), "ShapeError", "operand 0 has 1 dim but '[0,12]' names 2", "[0, 12]", 1),
    (
        "i" * 1_000_000,
        ((2,),),
        "ShapeError",
        f"operand 0 has 1 dim but '{'i' * 35}…' names 1000000",
        "i" * 24 + "…",
        0,
    ),
    ("a...,bcde->a...bcde", ((1,) * 30, (1,) * 4), "ShapeError", "a tensor has at most 32 dimensions, got 34", "", 0),
    ("ij,jk", ((2, 3), (4, 5)), "ShapeError", "label 'j' is 3 in operand 0 and 4 in operand 1", "ij,jk", 3),
    ("ij,ij->ij", ((2, 3), (2, 0)), "ShapeError", "label 'j' is 3 in operand 0 and 0 in operand 1", "ij,ij->ij", 4),
    ("[1,2],[2,3]", ((2, 3), (4, 5)), "ShapeError", "label 2 is 3 in operand 0 and 4 in operand 1", "[1,2],[2,3]", 7),
    ("ii", ((2, 3),), "ShapeError", "label 'i' is 2 and 3 in operand 0", "ii", 1),
    ("ii", ((1, 3),), "ShapeError", "label 'i' is 1 and 3 in operand 0", "ii", 1),
    ("i,ii", ((3,), (1, 3)), "ShapeError", "label 'i' is 1 and 3 in operand 1", "i,ii", 3),
    (
        "...,...",
        ((2, 3), (2, 4)),
        "ShapeError",
        "dimension -1 of '...' is 3 in operand 0 and 4 in operand 1",
        "...,...",
        4,
    ),
    ("i->j", ((2,),), "InvalidArgument", "label 'j' of the output does not appear in any operand", "i->j", 3),
    ("i->[1]", ((2,),), "InvalidArgument", "label 1 of the output does not appear in any operand", "i->[1]", 4),
    ("é->ö", ((2,),), "InvalidArgument", "label 'ö' (U+00F6) of the output does not appear in any operand", "é->ö", 3),
    ("i->ii", ((2,),), "InvalidArgument", "label 'i' appears more than once in the output", "i->ii", 4),
    ("i->i->i", ((2,),), "InvalidArgument", "equation has a second '->'", "i->i->i", 4),
    ("i->i,i", ((2,),), "InvalidArgument", "equation has a ',' behind '->'; there is one result", "i->i,i", 4),
    ("i-", ((2,),), "InvalidArgument", "equation has a '-' that is not part of '->'", "i-", 1),
    ("i- >i", ((2,),), "InvalidArgument", "equation has a '-' that is not part of '->'", "i- >i", 1),
    ("i>", ((2,),), "InvalidArgument", UNEXPECTED.format("'>'"), "i>", 1),
    ("i.j", ((2, 2),), "InvalidArgument", "equation has a '.' that is not part of '...'", "i.j", 1),
    ("....", ((2, 2),), "InvalidArgument", "equation has a '.' that is not part of '...'", "....", 3),
    ("...i...", ((2, 2),), "InvalidArgument", "equation has a second '...' in one term", "...i...", 4),
    ("i->......", ((2,),), "InvalidArgument", "equation has a second '...' in one term", "i->......", 6),
    ("[...]...", ((2,),), "InvalidArgument", "equation has a second '...' in one term", "[...]...", 5),
    ("i1", ((2, 2),), "InvalidArgument", UNEXPECTED.format("'1'"), "i1", 1),
    ("日$", ((2, 2),), "InvalidArgument", UNEXPECTED.format("'$'"), "日$", 2),
    ("i\u200b", ((2,),), "InvalidArgument", UNEXPECTED.format("'\\u{200b}' (U+200B)"), "i\\u{200b}", 1),
    ("ij→ji", ((2, 2),), "InvalidArgument", UNEXPECTED.format("'→' (U+2192)"), "ij→ji", 2),
    ("i\uff0cj", ((2,), (2,)), "InvalidArgument", UNEXPECTED.format("'\uff0c' (U+FF0C)"), "i\uff0cj", 1),
    ("i…", ((2, 2),), "InvalidArgument", UNEXPECTED.format("'…' (U+2026)"), "i…", 1),
    ("i\n", ((2,),), "InvalidArgument", UNEXPECTED.format("'\\x0a'"), "i\\x0a", 1),
    ("i\0j", ((2,),), "InvalidArgument", UNEXPECTED.format("'\\x00'"), "i\\x00j", 1),
    ("[0", ((2,),), "InvalidArgument", "equation has a '[' without the ']' that ends it", "[0", 0),
    ("i,[", ((2,), ()), "InvalidArgument", "equation has a '[' without the ']' that ends it", "i,[", 2),
    ("[0 1]", ((2,),), "InvalidArgument", INSIDE.format("1", "',' or ']'"), "[0 1]", 3),
    ("[-1]", ((2,),), "InvalidArgument", INSIDE.format("-", "a number that is not negative, or '...'"), "[-1]", 1),
    ("[0,]", ((2,),), "InvalidArgument", INSIDE.format("]", "a number that is not negative, or '...'"), "[0,]", 3),
    ("[i]", ((2,),), "InvalidArgument", INSIDE.format("i", "a number that is not negative, or '...'"), "[i]", 1),
    (
        "[99999999999999999999]",
        ((2,),),
        "InvalidArgument",
        "equation has a label that is greater than 2147483647",
        "[99999999999999999999]",
        1,
    ),
    ("]", ((2,),), "InvalidArgument", UNEXPECTED.format("']'"), "]", 0),
    (
        "ij," * 40 + "$" + ",kl" * 40,
        ((2, 2),) * 81,
        "InvalidArgument",
        UNEXPECTED.format("'$'"),
        "…" + "ij," * 16 + "$" + (",kl" * 8)[:23] + "…",
        49,
    ),
]
