"""Converts the models of text recognition to graphs: writes detector.flow, turner.flow, reader.flow, characters.txt.

Usage: convert.py MODELS FOLDER, where MODELS is the folder `models` of the package rapidocr-onnxruntime. Needs onnx for
the list of characters, which the reader has as metadata.
"""

import sys
from pathlib import Path

import onnx

import oneflow_py as flow

MODELS = {
    "detector": ("ch_PP-OCRv4_det_infer.onnx", {}),
    "turner": ("ch_ppocr_mobile_v2.0_cls_infer.onnx", {"x_2": 48, "x_3": 192}),
    "reader": ("ch_PP-OCRv4_rec_infer.onnx", {"x_2": 48}),
}


def main(models, folder):
    for name, (file, sizes) in MODELS.items():
        flow.onnx.load(models / file, sizes=sizes).save(folder / f"{name}.flow")
    metadata = onnx.load(models / MODELS["reader"][0]).metadata_props
    (characters,) = [each.value for each in metadata if each.key == "character"]
    (folder / "characters.txt").write_text("\n".join([*characters.split("\n"), " "]) + "\n", encoding="utf-8")


if __name__ == "__main__":
    main(*map(Path, sys.argv[1:]))
