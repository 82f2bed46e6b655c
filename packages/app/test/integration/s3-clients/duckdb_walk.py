"""DuckDB, by its own httpfs with the settings of docs/storage.md (client.sql), and over fsspec's s3fs (client.py)."""
from pathlib import Path

import duckdb, duckdb_extension_httpfs

from client import fs


def ok(said, *facts):
    if not all(facts):
        raise SystemExit(f"BAD {said}: {facts}")
    print("ok", said)


def fails(said, db, statement):
    try:
        db.execute(statement)
    except duckdb.Error as error:
        return said in str(error)
    return False


def walk(db, at, by):
    rows = lambda statement: db.execute(statement).fetchall()
    db.execute("CREATE TABLE t AS SELECT i AS n, i % 3 AS part, repeat('x', 20) || hash(i)::VARCHAR AS s FROM range(300000) x(i)")
    db.execute(f"COPY t TO '{at}/t.parquet' (ROW_GROUP_SIZE 50000)")
    ok(f"{by}: a file of parquet that is written by parts and read by ranges", rows(f"SELECT count(*), sum(n) FROM read_parquet('{at}/t.parquet')") == [(300000, 44999850000)], rows(f"SELECT s FROM '{at}/t.parquet' WHERE n = 250001") == rows("SELECT s FROM t WHERE n = 250001"), rows(f"SELECT sum(num_values) FROM parquet_metadata('{at}/t.parquet')") == [(900000,)])
    db.execute(f"COPY t TO '{at}/parts' (FORMAT parquet, PARTITION_BY (part))")
    files = f"read_parquet('{at}/parts/**/*.parquet', hive_partitioning = true)"
    ok(f"{by}: partitions and globs", rows(f"SELECT part, count(*) FROM {files} GROUP BY part ORDER BY part") == [(0, 100000), (1, 100000), (2, 100000)], rows(f"SELECT count(*) FROM {files} WHERE part = 1") == [(100000,)], len(rows(f"SELECT file FROM glob('{at}/parts/part=[0-2]/*.parquet')")) == 3, rows(f"SELECT file FROM glob('{at}/none/*')") == [])
    db.execute(f"COPY (SELECT * FROM t LIMIT 1000) TO '{at}/dir é+%20/t.csv.gz' (HEADER)")
    db.execute(f"COPY (SELECT 1 AS n) TO '{at}/t.json'")
    ok(f"{by}: CSV, compressed, and JSON", rows(f"SELECT count(*), sum(n) FROM '{at}/dir é+%20/t.csv.gz'") == [(1000, 499500)], rows(f"SELECT n FROM '{at}/t.json'") == [(1,)])


fs.mkdir("duckdb")
db = duckdb.connect()
[httpfs] = Path(duckdb_extension_httpfs.__file__).parent.glob("extensions/*/httpfs.duckdb_extension")
db.execute(f"LOAD '{httpfs}'")
for statement in open("client.sql").read().split(";"):
    db.execute(statement)
walk(db, "s3://duckdb", "httpfs")
db.execute("COPY (SELECT 7 AS n) TO 's3://duckdb/t.parquet'")
ok("what is written again is read anew", db.execute("SELECT n FROM 's3://duckdb/t.parquet'").fetchall() == [(7,)])
ok("what is not there", fails("404", db, "SELECT * FROM 's3://duckdb/none.parquet'"), fails("NoSuchBucket", db, "COPY t TO 's3://duckdb-none/t.parquet'"))
over = duckdb.connect()
over.register_filesystem(fs)
walk(over, "s3://duckdb/fsspec", "fsspec")
fs.rm("duckdb", recursive=True)
