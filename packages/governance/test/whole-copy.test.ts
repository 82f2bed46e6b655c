import { describe, expect, test } from "vitest";
import { createClassifier } from "../src/index.ts";

const classifier = createClassifier();
const tier = (query: string) => classifier.classify(query).tier;

const statements = [
  "EXPORT DATABASE 'out'",
  "EXPORT SCHEMA hr",
  "BACKUP DATABASE shop TO DISK = 'x.bak'",
  "BACKUP LOG shop TO DISK = 'x.trn'",
  "BACKUP DATABASE shop INTO 's3://bucket/x'",
  "BACKUP ALL TO S3('https://bucket/x')",
  "BACKUP INTO 's3://bucket/x'",
  "DUMP DATABASE shop TO 'x'",
  "RMAN> BACKUP DATABASE",
  "BACKUP INCREMENTAL LEVEL 0 DATABASE",
  "VACUUM INTO 'x.db'",
  "CREATE DATABASE copy TEMPLATE shop",
  "CREATE DATABASE copy CLONE shop",
  "CREATE DATABASE copy ON (NAME = a, FILENAME = 'a.ss') AS SNAPSHOT OF shop",
  "CREATE SCHEMA copy CLONE shop",
  ".dump",
  ".backup x.db",
];
const commands = [
  "pg_dump shop",
  "pg_dump -Fc -h db.example.org shop",
  "/usr/bin/pg_dump shop",
  "sudo -u postgres pg_dumpall",
  "pg_basebackup -D out",
  "mysqldump shop",
  "mysqldump --all-databases",
  "mysqldump -u root -p shop > x.sql",
  "mongodump --db shop",
  "expdp hr/pw full=y",
  "rman target / cmdfile=x backup",
  "etcdctl snapshot save x.db",
  "influx backup out",
  "redis-cli --rdb x.rdb",
  "sqlite3 shop.db .dump",
  "xtrabackup --backup --target-dir=out",
];

describe("a copy of everything that a database holds is of the highest tier", () => {
  test.each([...statements, ...commands])("%s", (query) => {
    for (const said of [query, `${query};`, `SELECT 1;\n${query}`, `/* nightly */ ${query}`, `cd /tmp && ${query} | gzip`])
      expect([said, tier(said)]).toEqual([said, "RESTRICTED"]);
  });
  test.each(statements)("%s in lower case", (query) => expect(tier(query.toLowerCase())).toBe("RESTRICTED"));
});

test.each([
  "pg_dump -t public.colours shop",
  "pg_dump --schema-only shop",
  "mysqldump shop colours",
  "mongodump --db shop --collection colours",
  "pg_dump is a program of PostgreSQL",
  "how do I back up a database?",
  "Backup database is the name of the nightly job",
  "etcdctl snapshot status x.db",
  "VACUUM",
  "nodetool status",
])("what copies no whole database is not: %s", (query) => expect(tier(query)).not.toBe("RESTRICTED"));
