"""Writes a nested Parquet file (`write FILE`) or says what one holds as JSON (`read FILE`): what another library makes of it."""

import json
import sys

import pyarrow as pa
import pyarrow.parquet as pq

SCHEMA = pa.schema(
    [
        ("person", pa.struct([("ssn", pa.int32()), ("contact", pa.struct([("email", pa.string())])), ("day", pa.date32())])),
        ("notes", pa.list_(pa.string())),
        ("cards", pa.list_(pa.struct([("password", pa.string()), ("size", pa.int64())]))),
        ("tags", pa.map_(pa.string(), pa.string())),
        ("deep", pa.list_(pa.list_(pa.int32()))),
    ]
)
ROWS = [
    {
        "person": {"ssn": 536228726, "contact": {"email": "ada@example.org"}, "day": None},
        "notes": ["write to ada@example.org", None, ""],
        "cards": [{"password": "hunter2xyz", "size": 1}, None],
        "tags": [("mail", "bob@example.org"), ("to", None)],
        "deep": [[1, None], [], None],
    },
    {"person": None, "notes": [], "cards": None, "tags": [], "deep": []},
    {"person": {"ssn": None, "contact": None, "day": None}, "notes": None, "cards": [], "tags": None, "deep": None},
]

mode, path = sys.argv[1:]
if mode == "write":
    pq.write_table(pa.Table.from_pylist(ROWS, schema=SCHEMA), path, row_group_size=2)
else:
    table = pq.read_table(path)
    table.validate(full=True)
    print(json.dumps({"schema": {field.name: str(field.type) for field in table.schema}, "rows": table.to_pylist()}, default=str))
