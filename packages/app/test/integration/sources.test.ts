import { mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { serve } from "@seneschal/server-fastify";
import { afterAll, beforeAll, expect, it } from "vitest";
import { type PostgresServer, postgresBinaries, startPostgres } from "../../../../tools/postgres-cluster.ts";
import { startRig } from "../governance/rig.ts";
import { openS3Rig, type S3Rig, sdk } from "../storage/s3-rig.ts";

const WAIT = { timeout: 120_000, interval: 200 };
const SSN = "536-22-8726";

let directory: string;
beforeAll(async () => {
  directory = await mkdtemp(join(tmpdir(), "seneschal-sources-"));
});
afterAll(() => rm(directory, { recursive: true }));

/** Starts a service with one source, waits for its first scan, and gives what the catalogue then has below a namespace. */
async function scanned(source: object) {
  const rig = await startRig(serve, { settings: { sources: { one: source } } });
  const last = async () => (await rig.call("reader", "GET", "/api/v1/sources")).body.sources[0].last_scan;
  const isOver = async () => ["succeeded", "failed"].includes((await last())?.state);
  await expect.poll(isOver, WAIT).toBe(true);
  return {
    rig,
    scan: await last(),
    async tiers() {
      const { body } = await rig.call("reader", "GET", "/api/v1/resources?limit=1000");
      type Told = {
        resource_id: string;
        columns: Record<string, { tier: string; type?: string }>;
        classification: { tier: string };
      };
      return Object.fromEntries(
        (body.resources as Told[]).map(({ resource_id, columns, classification }) => [
          resource_id,
          [classification.tier, Object.fromEntries(Object.entries(columns).map(([name, { tier }]) => [name, tier]))],
        ]),
      );
    },
    async again() {
      const { id } = await last();
      // The newest is told by when it was asked for.
      rig.clock.set(rig.clock.now() + 1000);
      expect((await rig.call("writer", "POST", "/api/v1/sources/one/scans")).status).toBe(202);
      await expect.poll(async () => (await last()).id !== id && (await isOver()), WAIT).toBe(true);
      return last();
    },
  };
}

it.skipIf(postgresBinaries() === undefined)(
  "a PostgreSQL database is scanned by a role that may only read: tables, views and partitions, with what the role may not see as unreadable",
  async () => {
    let postgres: PostgresServer | undefined;
    try {
      postgres = await startPostgres();
      postgres.shell(`psql -q -v ON_ERROR_STOP=1 <<'SQL'
create role scanner login;
create role root_like login superuser;
grant pg_read_all_data to scanner;
create schema "odd.schema";
create table public.people (id int, ssn text, note text);
insert into public.people select i, '${SSN}', 'as ever' from generate_series(1, 20000) i;
analyze public.people;
create view public.contacts as select 'ada@example.org' as mail from generate_series(1, 10);
create table "odd.schema"."a ""b""; drop table public.people" ("x""y" text);
insert into "odd.schema"."a ""b""; drop table public.people" select '${SSN}' from generate_series(1, 5);
create table public.parts (id int, mail text) partition by range (id);
create table public.parts_1 partition of public.parts for values from (0) to (100);
insert into public.parts select i, 'ada@example.org' from generate_series(1, 50) i;
create table public.hidden (id int);
alter table public.hidden enable row level security;
create function public.raises() returns text language plpgsql as $$ begin raise exception 'value ${SSN}'; end $$;
create view public.broken as select public.raises() as x;
create function public.writes() returns text language sql as $$ insert into public.people values (0, 'written', '') returning ssn $$;
create view public.writing as select public.writes() as x;
create table public.tmp_copy (ssn text);
SQL`);
      const { host, port } = postgres.address;
      const source = {
        kind: "postgres",
        host,
        port,
        database: "postgres",
        user: "scanner",
        tls: "off",
        exclude: ["public.tmp_*"],
      };
      const { rig, scan, tiers, again } = await scanned(source);
      try {
        expect(scan).toMatchObject({ state: "succeeded", result: { assets: 7, scanned: 4, failed: 3 } });
        const at = (name: string) => `postgres://${host}:${port}/postgres.${name}`;
        expect(await tiers()).toEqual({
          [at("public.people")]: ["PROPRIETARY", { id: "INTERNAL", ssn: "PROPRIETARY", note: "INTERNAL" }],
          [at("public.contacts")]: ["CONFIDENTIAL", { mail: "CONFIDENTIAL" }],
          [at(`"odd.schema"."a ""b""; drop table public.people"`)]: ["PROPRIETARY", { 'x"y': "PROPRIETARY" }],
          [at("public.parts")]: ["CONFIDENTIAL", { id: "INTERNAL", mail: "CONFIDENTIAL" }],
          [at("public.hidden")]: ["RESTRICTED", {}],
          [at("public.broken")]: ["RESTRICTED", {}],
          [at("public.writing")]: ["RESTRICTED", {}],
        });
        expect(JSON.stringify(scan)).not.toContain(SSN);
        postgres.shell(`psql -qc 'drop table public.parts' -c 'drop view public.broken'`);
        expect((await again()).result).toMatchObject({ assets: 5, dropped: 2 });
        expect(postgres.shell(`psql -Atc "select count(*) from public.people where ssn = 'written'"`).trim()).toBe("0");
        await postgres.kill();
        expect(await again()).toMatchObject({ state: "failed" });
        expect((await rig.call(undefined, "GET", "/health")).body.status).toBe("degraded");
        await postgres.restart();
      } finally {
        await rig.stop();
      }
      const superuser = await scanned({ ...source, user: "root_like" });
      await superuser.rig.stop();
      expect(superuser.scan).toMatchObject({ state: "failed", error: expect.stringContaining("superuser") });
    } finally {
      await postgres?.destroy();
    }
  },
);

it("the files below a prefix of our own S3 are scanned, of a large one its beginning, and again only when they have changed", async () => {
  let s3: S3Rig | undefined;
  try {
    s3 = await openS3Rig();
    const client = s3.client();
    const put = (Key: string, Body: string | Uint8Array) => client.send(new sdk.PutObjectCommand({ Bucket: "lake", Key, Body }));
    await client.send(new sdk.CreateBucketCommand({ Bucket: "lake" }));
    await put("raw/people.csv", `name,ssn\n${`ada,${SSN}\n`.repeat(20)}`);
    await put("raw/events.jsonl", `${JSON.stringify({ at: 1, user: { mail: "ada@example.org" } })}\n`.repeat(20));
    await put("raw/large.csv", `note,ssn\n${`as ever,${SSN}\n`.repeat(20_000)}`);
    // The first by name: one that cannot be read keeps no other from being scanned.
    await put("raw/0 utf-16.csv", Buffer.from(`\ufeffname,4111111111111111\nada,${SSN}\n`, "utf16le"));
    await put("raw/0 nul.csv", `4111111111111111\0,a\n${SSN},b\n`);
    await put("raw/one row.csv", `${SSN},Ada`);
    await put("raw/broken.parquet", "PAR1 this is none PAR1");
    await put("raw/picture.png", "...");
    await put("raw/skip/people.csv", `ssn\n${SSN}\n`);
    await put("other/people.csv", `ssn\n${SSN}\n`);
    const secret_key_file = join(directory, "secret");
    await writeFile(secret_key_file, `${s3.keys.secret_key}\n`);
    const source = { kind: "s3", endpoint: s3.gateway.url, bucket: "lake", access_key: s3.keys.access_key, secret_key_file };
    const wanted = { ...source, prefix: "raw/", exclude: ["raw/skip/*"], sample: { bytes: 65_536 } };
    const { rig, scan, tiers, again } = await scanned(wanted);
    try {
      expect(scan).toMatchObject({ state: "succeeded", error: null, result: { assets: 7, scanned: 4, failed: 3, skipped: 1 } });
      expect(JSON.stringify(scan)).not.toContain("4111");
      expect(await tiers()).toMatchObject({
        "s3://lake/raw/people.csv": ["PROPRIETARY", { ssn: "PROPRIETARY" }],
        "s3://lake/raw/events.jsonl": ["CONFIDENTIAL", { at: "INTERNAL", "user.mail": "CONFIDENTIAL" }],
        "s3://lake/raw/large.csv": ["PROPRIETARY", { note: "INTERNAL", ssn: "PROPRIETARY" }],
        "s3://lake/raw/broken.parquet": ["RESTRICTED", {}],
        "s3://lake/raw/0 utf-16.csv": ["RESTRICTED", {}],
        "s3://lake/raw/0 nul.csv": ["RESTRICTED", {}],
        "s3://lake/raw/one row.csv": ["PROPRIETARY", { "column 1": "PROPRIETARY", "column 2": expect.any(String) }],
      });
      await put("raw/events.jsonl", `${JSON.stringify({ password: "hunter2-hunter2" })}\n`.repeat(20));
      await client.send(new sdk.DeleteObjectCommand({ Bucket: "lake", Key: "raw/large.csv" }));
      expect((await again()).result).toMatchObject({ scanned: 1, unchanged: 2, failed: 3, dropped: 1 });
      await writeFile(secret_key_file, "another");
      const refused = await again();
      expect(refused).toMatchObject({ state: "failed", error: "the source cannot be read: SignatureDoesNotMatch" });
    } finally {
      await rig.stop();
    }
  } finally {
    await s3?.dispose();
  }
});
