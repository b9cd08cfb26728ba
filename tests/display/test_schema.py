"""The wire schema and the TypeScript made from it."""

from pathlib import Path
from typing import get_type_hints

from autograd_lab.display import schema

GENERATED = Path(__file__).parents[2] / "widgets" / "src" / "protocol.gen.ts"


def test_generated_types_are_current():
    assert GENERATED.read_text(encoding="utf-8") == schema.typescript(), (
        "run: python -m autograd_lab.display.schema > widgets/src/protocol.gen.ts"
    )


def test_every_record_and_field_is_generated():
    text = schema.typescript()
    for record in schema.records():
        assert f"export interface {record.__name__} {{" in text
        for field in get_type_hints(record):
            assert f"  {field}" in text
