import { openPostgresStore } from "@seneschal/adapters/postgres";
import type { JsonObject } from "@seneschal/kernel";
import type { DocumentStore } from "@seneschal/kernel/ports";
import type { StoreSchema } from "@seneschal/kernel/store";
import fc from "fast-check";
import pg from "pg";
import { afterAll, beforeAll, describe, expect, test, vi } from "vitest";
import { type PostgresServer, postgresBinaries, startPostgres } from "../../../../tools/postgres-cluster.ts";

const by = (member: string) => ({ key: (doc: JsonObject) => (doc[member] === undefined ? undefined : [String(doc[member])]) });

type Indexes = StoreSchema["collections"][string]["indexes"];

/** A release, and the next: its collection, and its audit log, have one index more. */
const older = { collections: { things: { indexes: { by_kind: by("kind") } } } } satisfies StoreSchema;
const newer = {
  collections: { things: { indexes: { by_kind: by("kind"), by_owner: by("owner") } } },
  auditIndexes: { by_actor: { key: ({ event }) => [String((event as JsonObject)["actor"])] } },
} satisfies StoreSchema;

if (postgresBinaries() === undefined) test.skip("PostgreSQL is not installed (apt-get install postgresql)", () => {});
else
  describe("two releases on one PostgreSQL", () => {
    let server: PostgresServer;
    let admin: pg.Client;
    beforeAll(async () => {
      server = await startPostgres();
      admin = new pg.Client({ connectionString: server.url });
      await admin.connect();
    });
    afterAll(async () => {
      await admin.end();
      await server.destroy();
    });

    const open = (namespace: string, schema: StoreSchema, more: object = {}): Promise<DocumentStore> =>
      openPostgresStore({ url: server.url, namespace, timeoutMs: 20_000, ...schema, ...more });
    const thing = (n: number, owner: string) => ({ coll: "things", id: String(n), doc: { n, kind: "k", owner } });
    const idsOf = async (store: DocumentStore, owner: string, limit = 2): Promise<readonly string[]> => {
      const found: string[] = [];
      for (let cursor: string | undefined, more = true; more; more = cursor !== undefined) {
        const page = await store.list("things", "by_owner", [owner], { limit, ...(cursor === undefined ? {} : { cursor }) });
        found.push(...page.items.map(({ id }) => id));
        cursor = page.cursor;
      }
      return found.sort();
    };

    test("whichever of them writes, a list and a count of the index that only the newer knows are those of all that was written", async () => {
      let places = 0;
      const acts = fc.record({
        by: fc.constantFrom(0, 1),
        id: fc.integer({ min: 1, max: 6 }),
        owner: fc.constantFrom("ada", "bob", undefined, "gone"),
        look: fc.boolean(),
      });
      await fc.assert(
        fc.asyncProperty(fc.array(acts, { minLength: 1, maxLength: 20 }), async (history) => {
          places += 1;
          const namespace = `history_${places}`;
          const stores = [await open(namespace, older)];
          const model = new Map<string, string | undefined>();
          const look = async (store: DocumentStore) => {
            for (const owner of ["ada", "bob"]) {
              const expected = [...model].filter(([, its]) => its === owner).map(([id]) => id);
              expect(await idsOf(store, owner)).toEqual(expected.sort());
              expect(await store.count("things", "by_owner", [owner])).toBe(expected.length);
            }
            expect(await store.count("audit", "by_actor", ["ada"])).toBe(acted);
          };
          let acted = 0;
          for (const [at, act] of history.entries()) {
            if (at === Math.floor(history.length / 3)) stores.push(await open(namespace, newer));
            const store = stores[act.by] ?? (stores[0] as DocumentStore);
            const gone = act.owner === "gone";
            const doc = { kind: "k", ...(act.owner === undefined ? {} : { owner: act.owner }) };
            const write = gone
              ? { dels: [{ coll: "things", id: `${act.id}` }] }
              : { puts: [{ coll: "things", id: `${act.id}`, doc }] };
            const audit = [{ stream: "s", event: { actor: act.id > 3 ? "ada" : "bob" } }];
            expect((await store.commit({ commitId: `c${at}`, ...write, audit })).ok).toBe(true);
            acted += act.id > 3 ? 1 : 0;
            if (gone) model.delete(`${act.id}`);
            else model.set(`${act.id}`, act.owner);
            if (act.look && stores[1] !== undefined) await look(stores[1]);
          }
          if (stores[1] === undefined) stores.push(await open(namespace, newer));
          await look(stores[1] as DocumentStore);
          await Promise.all(stores.map((store) => store.close()));
        }),
        { numRuns: 4 },
      );
    });

    test("the newer starts while the older is under load: no write of either fails, and none is missed by a list", async () => {
      const writers = [await open("rolling", older), await open("rolling", older)];
      for (let page = 0; page < 3; page += 1)
        await writers[0]?.commit({
          commitId: `seed${page}`,
          puts: Array.from({ length: 900 }, (_, at) => thing(1_000_000 + page * 900 + at, "seed")),
        });
      const acknowledged = new Set<string>();
      const failures: unknown[] = [];
      let [next, working] = [1, true];
      const load = (store: DocumentStore) =>
        Array.from({ length: 2 }, async () => {
          while (working) {
            const n = next;
            next += 1;
            try {
              expect((await store.commit({ commitId: `w${n}`, puts: [thing(n, "load")] })).ok).toBe(true);
              acknowledged.add(String(n));
            } catch (error) {
              failures.push(error);
            }
          }
        });
      const until = (size: number) => vi.waitFor(() => expect(acknowledged.size).toBeGreaterThan(size), { timeout: 60_000 });
      const callers = writers.flatMap(load);
      await until(20);
      const upgraded = await open("rolling", newer);
      callers.push(...load(upgraded));
      for (let round = 0; round < 3; round += 1) {
        const before = [...acknowledged];
        const listed = new Set(await idsOf(upgraded, "load", 1000));
        expect(before.filter((id) => !listed.has(id))).toEqual([]);
        await until(acknowledged.size + 20);
      }
      working = false;
      await Promise.all(callers);
      expect(failures).toEqual([]);
      expect(await idsOf(upgraded, "load", 1000)).toEqual([...acknowledged].sort());
      expect(await upgraded.count("things", "by_owner", ["seed"])).toBe(2700);
      for (const store of [...writers, upgraded]) {
        await store.checkWrites?.();
        await store.close();
      }
    });

    test("a commit that depends on a list of the new index is refused when the older wrote into that", async () => {
      const [before, after] = [await open("depends", older), await open("depends", newer)];
      await after.commit({ commitId: "1", puts: [thing(1, "ada")] });
      const { items } = await after.list("things", "by_owner", ["ada"], { limit: 5 });
      const found = items.map(({ id, version }) => ({ id, version }));
      const range = { coll: "things", index: "by_owner", prefix: ["ada"], options: { limit: 5 }, found };
      await before.commit({ commitId: "2", puts: [thing(2, "ada")] });
      expect(await after.commit({ commitId: "3", puts: [thing(3, "bob")], ranges: [range] })).toMatchObject({ ok: false });
      const { items: now } = await after.list("things", "by_owner", ["ada"], { limit: 5 });
      const again = { ...range, found: now.map(({ id, version }) => ({ id, version })) };
      expect(await after.commit({ commitId: "4", puts: [thing(3, "bob")], ranges: [again] })).toMatchObject({ ok: true });
      await before.close();
      await after.close();
    });

    test("an index that a start did not finish is finished by the next", async () => {
      const first = await open("half", older);
      await first.commit({ commitId: "1", puts: [thing(1, "ada"), thing(2, "bob")] });
      await (await open("half", newer)).close();
      const { rows } = await admin.query<{ name: string }>(
        "select column_name as name from information_schema.columns where table_schema = 'half' and column_name ~ '^k_by_owner'",
      );
      const stem = rows[0]?.name.slice(2);
      await admin.query(`update half.d_things set k_${stem} = null, v_${stem} = null`);
      await first.commit({ commitId: "2", puts: [thing(3, "ada")] });
      const again = await open("half", newer);
      expect(await idsOf(again, "ada")).toEqual(["1", "3"]);
      await first.close();
      await again.close();
    });

    /** What a release may do with indexes: those of the release before, and its own. */
    const changes: Readonly<Record<string, readonly [Indexes, Indexes]>> = {
      "is new": [{ by_kind: by("kind") }, { by_kind: by("kind"), by_owner: by("owner") }],
      "is gone": [{ by_kind: by("kind"), by_owner: by("owner") }, { by_kind: by("kind") }],
      "has another meaning": [{ by_kind: by("kind") }, { by_kind: { ...by("owner"), revision: 2 } }],
      "is new and unique": [{ by_kind: by("kind") }, { by_kind: by("kind"), by_owner: { ...by("owner"), unique: true } }],
      "has become unique": [{ by_owner: by("owner") }, { by_owner: { ...by("owner"), unique: true } }],
      "is no longer unique": [{ by_owner: { ...by("owner"), unique: true } }, { by_owner: by("owner") }],
      "was unique, and is gone": [{ by_owner: { ...by("owner"), unique: true } }, {}],
      "was unique, and has another meaning": [
        { by_owner: { ...by("owner"), unique: true } },
        { by_owner: { ...by("kind"), unique: true, revision: 2 } },
      ],
    };

    test.each(Object.keys(changes))(
      "an index %s: both releases write, are answered by all that was written, and may be started again, in whatever order",
      async (what) => {
        const [before, after] = changes[what] as readonly [Indexes, Indexes];
        const release = (indexes: Indexes): StoreSchema => ({ collections: { things: { indexes } } });
        let places = 0;
        const acts = fc.record({
          by: fc.constantFrom(0, 1),
          id: fc.integer({ min: 1, max: 5 }),
          kind: fc.constantFrom("a", "b", undefined),
          owner: fc.constantFrom("a", "b", undefined, "gone"),
          look: fc.constantFrom("both", "older", "newer", "none"),
          again: fc.constantFrom(true, false, false),
        });
        await fc.assert(
          fc.asyncProperty(fc.array(acts, { minLength: 4, maxLength: 16 }), async (history) => {
            places += 1;
            const namespace = `${what.replaceAll(/[^a-z]/g, "_")}_${places}`;
            const sets = [before, after];
            const model = new Map<string, JsonObject>();
            const holders = (its: Indexes[string], key: string): string[] =>
              [...model].flatMap(([id, doc]) => (its.key(doc)?.[0] === key ? [id] : [])).sort();
            const look = async (at: number): Promise<void> => {
              for (const [name, its] of Object.entries(sets[at] as Indexes))
                for (const key of ["a", "b"]) {
                  const { items } = await (stores[at] as DocumentStore).list("things", name, [key], { limit: 10 });
                  expect(items.map(({ id }) => id).sort(), `${at} ${name}`).toEqual(holders(its, key));
                  expect(await stores[at]?.count("things", name, [key])).toBe(holders(its, key).length);
                }
            };
            const stores = [await open(namespace, release(before))];
            for (const [at, act] of history.entries()) {
              // Of a unique index that comes, the first start refuses what is there.
              if (at === 0) stores.push(await open(namespace, release(after)));
              if (act.again) {
                await stores[act.by]?.close();
                stores[act.by] = await open(namespace, release(sets[act.by] as Indexes));
              }
              const id = String(act.id);
              const doc = { ...(act.kind && { kind: act.kind }), ...(act.owner && { owner: act.owner }) };
              const gone = act.owner === "gone";
              const held = Object.values(sets[act.by] as Indexes).some((its) => {
                const key = its.key(doc)?.[0];
                if (gone || its.unique !== true || key === undefined) return false;
                const who = holders(its, String(key));
                return who.length > 0 && !who.includes(id);
              });
              const write = gone ? { dels: [{ coll: "things", id }] } : { puts: [{ coll: "things", id, doc }] };
              const { ok } = await (stores[act.by] as DocumentStore).commit({ commitId: `c${at}`, ...write });
              expect(ok).toBe(!held);
              if (ok && gone) model.delete(id);
              else if (ok) model.set(id, doc);
              for (const [of, name] of ["older", "newer"].entries()) if ([name, "both"].includes(act.look)) await look(of);
            }
            await look(0);
            await look(1);
            for (const store of stores) await store.checkWrites?.();
            await Promise.all(stores.map((store) => store.close()));
          }),
          { numRuns: 4 },
        );
      },
    );

    const unique = { collections: { things: { indexes: { by_kind: by("kind"), by_owner: { ...by("owner"), unique: true } } } } };

    test("an index that is to be unique and is not: the newer does not start, the older goes on, and once it is the newer starts", async () => {
      const first = await open("not_unique", older);
      await first.commit({ commitId: "1", puts: [thing(1, "ada"), thing(2, "ada"), thing(3, "bob")] });
      for (let start = 0; start < 2; start += 1) {
        await expect(open("not_unique", unique)).rejects.toMatchObject({
          code: "invalid_schema",
          details: { coll: "things", index: "by_owner", ids: ["1", "2"] },
        });
        expect((await first.commit({ commitId: `go on ${start}`, puts: [thing(4, "eve")] })).ok).toBe(true);
      }
      await first.commit({ commitId: "2", puts: [thing(2, "eli")] });
      const later = await open("not_unique", unique);
      expect(await later.commit({ commitId: "3", puts: [thing(5, "ada")] })).toMatchObject({ ok: false });
      await first.close();
      await later.close();
    });

    test("what the older writes against an index that is unique by now is told of once, stays, and holds its key", async () => {
      const told: object[] = [];
      const [first, later] = [
        await open("shared", older),
        await open("shared", unique, { onSharedKey: (one: object) => told.push(one) }),
      ];
      await first.commit({ commitId: "1", puts: [thing(1, "ada"), thing(2, "ada")] });
      expect(await later.commit({ commitId: "2", puts: [thing(3, "ada")] })).toMatchObject({
        ok: false,
        unique: [{ coll: "things", id: "3", index: "by_owner" }],
      });
      expect(await idsOf(later, "ada")).toEqual(["1", "2"]);
      expect(told).toEqual([{ collection: "things", index: "by_owner", ids: ["1", "2"] }]);
      // Whoever has it keeps it, until it is given up.
      expect(await later.commit({ commitId: "3", puts: [{ ...thing(1, "ada"), doc: { owner: "ada", n: 9 } }] })).toMatchObject({
        ok: true,
      });
      expect(await later.commit({ commitId: "4", puts: [thing(1, "eve")] })).toMatchObject({ ok: true });
      const again = await open("shared", unique, { onSharedKey: (one: object) => told.push(one) });
      expect(told.length).toBe(1);
      for (const store of [first, later, again]) await store.close();
    });

    test("columns that no start had a use for in a week are dropped; within the week whoever declares them keeps them", async () => {
      const columns = async () =>
        (
          await admin.query<{ name: string }>(
            "select column_name as name from information_schema.columns where table_schema = 'week' and column_name ~ '^k_by' order by 1",
          )
        ).rows.map(({ name }) => name);
      const wait = () => admin.query("update week.index_columns set unused = unused - interval '8 days'");
      const two: StoreSchema = { collections: { things: { indexes: { by_kind: by("kind"), by_owner: by("owner") } } } };
      const first = await open("week", two);
      await first.commit({ commitId: "1", puts: [thing(1, "ada")] });
      const start = async (schema: StoreSchema) => (await open("week", schema)).close();
      await start(older);
      expect(await columns()).toEqual(["k_by_kind", "k_by_owner"]);
      await start(two);
      await wait();
      await start(older);
      expect(await columns()).toEqual(["k_by_kind", "k_by_owner"]);
      await wait();
      await start(older);
      expect(await columns()).toEqual(["k_by_kind"]);
      // Who still writes it is refused, and nothing has changed.
      await expect(first.commit({ commitId: "2", puts: [thing(2, "ada")] })).rejects.toMatchObject({ code: "store_failed" });
      await first.close();
      const again = await open("week", two);
      expect(await idsOf(again, "ada")).toEqual(["1"]);
      await again.close();
    });

    test("an index that takes longer to build than a call may take is built at the start, which tells of it; who starts meanwhile waits", async () => {
      const timeoutMs = 400;
      await (await open("large", older)).close();
      // Stands for a large table: what builds an index waits as long as a server would work at it.
      await admin.query("begin; lock table large.d_things in access share mode");
      const told: object[] = [];
      const opening = [0, 1].map(() => open("large", newer, { timeoutMs, onIndexBuild: (built: object) => told.push(built) }));
      const watcher = new pg.Client({ connectionString: server.url });
      await watcher.connect();
      const waiting = async () =>
        (
          await watcher.query(
            `select 1 from pg_stat_activity where application_name = 'seneschal large' and wait_event_type = 'Lock'
             and clock_timestamp() - query_start > $1::int * interval '1 millisecond'`,
            [3 * timeoutMs],
          )
        ).rowCount;
      await vi.waitFor(async () => expect(await waiting()).toBe(2), { timeout: 60_000 });
      await admin.query("commit");
      const stores = await Promise.all(opening);
      expect(told).toContainEqual({ collection: "things", indexes: ["by_owner"] });
      expect((await stores[0]?.commit({ commitId: "1", puts: [thing(1, "ada")] }))?.ok).toBe(true);
      expect(await idsOf(stores[1] as DocumentStore, "ada")).toEqual(["1"]);
      await Promise.all(stores.map((store) => store.close()));
      await watcher.end();
    });
  });
