import type { CodedError } from "../errors.ts";
import type { Json, JsonObject } from "../json.ts";
import type { Commit, CommitResult, DocumentStore, IndexSpec, IndexValue } from "../ports/document-store.ts";
import { auditSequenceTest } from "./audit-sequence.ts";
import { documentStoreModelTest } from "./document-store-model.ts";
import type { StorePlace, StoreUnderTest, SuiteSchema } from "./store-under-test.ts";
import { refuses, type SuiteRunner } from "./suite.ts";

/** The schema of the suite: an index of two values, a unique one, one over any scalar, and one over audit events. */
export const suiteSchema: SuiteSchema = {
  collections: {
    things: {
      indexes: {
        by_kind: {
          key: (doc) =>
            doc["kind"] === undefined ? undefined : [doc["kind"] as IndexValue, (doc["rank"] ?? null) as IndexValue],
        },
        by_name: { key: (doc) => (doc["name"] === undefined ? undefined : [doc["name"] as IndexValue]), unique: true },
        by_any: { key: (doc) => (doc["any"] === undefined ? undefined : [doc["any"] as IndexValue]) },
      },
    },
    others: { indexes: {} },
  },
  auditIndexes: {
    by_type: { key: ({ event }) => [(event as JsonObject)["type"] as IndexValue] },
  },
};

/** Things that were called by their `name` in version 1, by a `title` from 2, and have `tags` from 3; `others` never changed. */
function versionedSchema(version: 1 | 2 | 3): SuiteSchema {
  const steps: Readonly<Record<number, (doc: JsonObject) => JsonObject>> = {
    2: ({ name = null, ...doc }) => ({ ...doc, title: name }),
    3: (doc) => ({ ...doc, tags: [] }),
  };
  const upgrade = Object.fromEntries(Object.entries(steps).filter(([to]) => Number(to) <= version));
  const title: IndexSpec = { key: (doc) => [doc[version === 1 ? "name" : "title"] as IndexValue], unique: true };
  const tags: IndexSpec = { key: (doc) => [(doc["tags"] as readonly Json[]).length] };
  return {
    collections: {
      things: { indexes: { by_title: title, ...(version === 3 && { by_tags: tags }) }, version, upgrade },
      plain: {
        indexes: {},
        version,
        upgrade: Object.fromEntries(Object.keys(upgrade).map((to) => [to, (doc: JsonObject) => doc])),
      },
      others: { indexes: {} },
    },
    auditIndexes: {},
  };
}

/**
 * Every law of the DocumentStore port as a test. Only what the capabilities leave out is skipped.
 *
 * @example
 * ```ts
 * import assert from "node:assert/strict";
 * import { test } from "node:test";
 * import { openMemoryStore } from "@seneschal/adapters/memory";
 * import { documentStoreSuite } from "@seneschal/kernel/testing";
 * documentStoreSuite(
 *   { test: (name, body) => void test(name, body), equal: assert.deepStrictEqual },
 *   {
 *     capabilities: { durable: false, multiProcess: false, subscribe: "push" },
 *     place: async () => ({ open: async (schema) => openMemoryStore(schema), destroy: async () => {} }),
 *   },
 * );
 * ```
 */
export function documentStoreSuite(runner: SuiteRunner, subject: StoreUnderTest): void {
  const { equal } = runner;
  const { durable, multiProcess } = subject.capabilities;

  const law = (name: string, body: (store: DocumentStore, place: StorePlace) => Promise<void>): void =>
    runner.test(name, async () => {
      const place = await subject.place();
      try {
        const store = await place.open(suiteSchema);
        try {
          await body(store, place);
        } finally {
          await store.close();
        }
      } finally {
        await place.destroy();
      }
    });
  let commits = 0;
  const commit = (store: DocumentStore, rest: Omit<Commit, "commitId">): Promise<CommitResult> => {
    commits += 1;
    return store.commit({ commitId: `commit-${commits}`, ...rest });
  };
  const put = (store: DocumentStore, id: string, doc: JsonObject, ifVersion?: number): Promise<CommitResult> =>
    commit(store, { puts: [{ coll: "things", id, doc, ...(ifVersion === undefined ? {} : { ifVersion }) }] });
  const versionOf = (result: CommitResult, id: string): number => (result.ok ? (result.versions[`things/${id}`] ?? -1) : -1);
  const ids = async (
    store: DocumentStore,
    index: string,
    prefix: readonly IndexValue[],
    options: object = {},
  ): Promise<string[]> => (await store.list("things", index, prefix, { limit: 1000, ...options })).items.map((item) => item.id);
  const everything = async (store: DocumentStore): Promise<unknown> => ({
    kinds: await store.list("things", "by_kind", [], { limit: 1000 }),
    names: await store.list("things", "by_name", [], { limit: 1000 }),
    any: await store.list("things", "by_any", [], { limit: 1000 }),
    audit: await store.auditRead(0, 1000),
    changes: await store.changes(0, 1000),
  });

  runner.test("capabilities are constant and as declared", async () => {
    const place = await subject.place();
    const store = await place.open(suiteSchema);
    equal(store.capabilities, subject.capabilities);
    await store.close();
    equal(store.capabilities, subject.capabilities);
    await place.destroy();
  });

  law("an absent document is undefined, and getMany has one slot per id in order", async (store) => {
    equal(await store.get("things", "a"), undefined);
    await put(store, "a", { n: 1 });
    await put(store, "b", { n: 2 });
    equal(
      (await store.getMany("things", ["b", "none", "a", "b"])).map((item) => item?.doc["n"]),
      [2, undefined, 1, 2],
    );
    equal(await store.getMany("things", []), []);
  });

  law("atomic: a commit that fails in one part leaves no trace of any part", async (store) => {
    await put(store, "a", { kind: "k", name: "taken" });
    const before = await everything(store);
    const result = await commit(store, {
      puts: [
        { coll: "things", id: "b", doc: { kind: "k", any: 1 } },
        { coll: "others", id: "o", doc: {} },
        { coll: "things", id: "c", doc: { name: "taken" } },
      ],
      dels: [{ coll: "things", id: "a", ifVersion: 99 }],
      audit: [{ stream: "s", event: { type: "t" } }],
    });
    equal(result.ok, false);
    equal(await everything(store), before);
    equal(await store.get("others", "o"), undefined);
  });

  law("conditional: a version, absence, or nothing is demanded; checks guard what was only read", async (store) => {
    const first = versionOf(await put(store, "a", { n: 1 }, 0), "a");
    equal((await put(store, "a", { n: 2 }, 0)).ok, false);
    equal((await put(store, "a", { n: 2 }, first + 1)).ok, false);
    const second = versionOf(await put(store, "a", { n: 2 }, first), "a");
    equal((await put(store, "a", { n: 3 }, first)).ok, false);
    equal((await put(store, "a", { n: 3 })).ok, true);
    const third = (await store.get("things", "a"))?.version ?? 0;
    const guarded = (version: number, absent: number): Promise<CommitResult> =>
      commit(store, {
        puts: [{ coll: "things", id: "b", doc: {} }],
        checks: [
          { coll: "things", id: "a", version },
          { coll: "others", id: "x", version: absent },
        ],
      });
    equal((await guarded(second, 0)).ok, false);
    equal((await guarded(third, 1)).ok, false);
    equal((await guarded(third, 0)).ok, true);
    equal((await commit(store, { dels: [{ coll: "things", id: "a", ifVersion: second }] })).ok, false);
    equal((await commit(store, { dels: [{ coll: "things", id: "a", ifVersion: third }] })).ok, true);
    equal(await store.get("things", "a"), undefined);
  });

  law("ranges: a commit stands only while a list and a count answer what they answered", async (store) => {
    const doc = (rank: number): JsonObject => ({ kind: "k", rank });
    for (const [id, rank] of [
      ["a", 1],
      ["b", 2],
      ["c", 3],
    ] as const)
      await put(store, id, doc(rank), 0);
    const asked = [
      { prefix: ["k"], options: { limit: 10 } },
      { prefix: ["k"], options: { limit: 2, reverse: true } },
      { prefix: ["k"], options: { limit: 1, offset: 1 } },
      { prefix: ["k"], options: { limit: 10, from: [2] } },
      { prefix: ["none"], options: { limit: 10 } },
    ] as const;
    const at = { coll: "things", index: "by_kind" };
    const listed = () =>
      Promise.all(
        asked.map(async ({ prefix, options }) => ({
          ...at,
          prefix,
          options,
          found: (await store.list(at.coll, at.index, prefix, options)).items,
        })),
      );
    const counted = async (from: number) => ({
      ...at,
      prefix: ["k"],
      options: { from: [from] },
      found: await store.count(at.coll, at.index, ["k"], { from: [from] }),
    });
    const writes = (ranges: Commit["ranges"]): Promise<CommitResult> =>
      commit(store, { puts: [{ coll: "others", id: "x", doc: {} }], ranges: ranges ?? [] });
    const [before, three, two] = [await listed(), await counted(1), await counted(2)];
    equal((await writes([...before, three, two])).ok, true);
    // A change of a member, one more, and one less: each is seen by those whose answer it changes, and by nobody else.
    await put(store, "a", { ...doc(1), any: 1 });
    const after = async (ranges: Commit["ranges"]): Promise<boolean[]> =>
      Promise.all((ranges ?? []).map(async (range) => (await writes([range])).ok));
    equal(await after([...before, three, two]), [false, true, true, true, true, true, true]);
    const changed = await listed();
    await put(store, "d", doc(4), 0);
    equal(await after([...changed, three, two]), [false, false, true, false, true, false, false]);
    const [grown, four] = [await listed(), await counted(1)];
    await commit(store, { dels: [{ coll: "things", id: "a" }] });
    equal(await after([...grown, four, await counted(2)]), [false, true, false, true, true, false, true]);
    // Of commits that travel together none builds on an answer that another takes away.
    const none = { ...at, prefix: ["once"], options: { limit: 1 }, found: [] };
    const racing = await Promise.all(
      ["e", "f", "g"].map((id) =>
        commit(store, { puts: [{ coll: "things", id, doc: { kind: "once", rank: 0 } }], ranges: [none] }),
      ),
    );
    equal(racing.filter(({ ok }) => ok).length, 1);
    equal(
      racing.find(({ ok }) => !ok),
      { ok: false, failed: [], unique: [], moved: [at] },
    );
    await refuses(runner, "invalid_query", () => writes([{ ...at, index: "no_such", prefix: [], found: 0 }]));
  });

  law("version: grows with every change of an id and never repeats, also after delete and re-create", async (store) => {
    const seen: number[] = [];
    for (let round = 0; round < 5; round += 1) {
      seen.push(versionOf(await put(store, "a", { round }), "a"));
      if (round % 2 === 1) await commit(store, { dels: [{ coll: "things", id: "a" }] });
    }
    equal(
      seen.every((version, at) => at === 0 || version > (seen[at - 1] ?? 0)),
      true,
      String(seen),
    );
    equal(seen.every(Number.isSafeInteger), true);
  });

  law("conflict: a value that names every failed condition and every unique index", async (store) => {
    const version = versionOf(await put(store, "a", { name: "ann" }), "a");
    await put(store, "b", { name: "bob" });
    const result = await commit(store, {
      puts: [
        { coll: "things", id: "a", doc: {}, ifVersion: version + 7 },
        { coll: "things", id: "c", doc: { name: "bob" }, ifVersion: 0 },
      ],
      checks: [{ coll: "others", id: "z", version: 3 }],
    });
    equal(result, {
      ok: false,
      failed: [
        { coll: "things", id: "a", expected: version + 7, actual: version },
        { coll: "others", id: "z", expected: 3, actual: 0 },
      ],
      unique: [{ coll: "things", id: "c", index: "by_name" }],
    });
  });

  law("a rejected commit never fails the neighbours that it travels with", async (store) => {
    await put(store, "taken", { name: "taken" });
    const results = await Promise.all(
      Array.from({ length: 30 }, (_, at) => put(store, `n${at}`, { name: at % 3 === 0 ? "taken" : `free-${at}` }, 0)),
    );
    equal(
      results.map((result) => result.ok),
      results.map((_, at) => at % 3 !== 0),
    );
  });

  law("unique: of two racing creators exactly one wins", async (store) => {
    for (let round = 0; round < 5; round += 1) {
      const results = await Promise.all(
        Array.from({ length: 8 }, (_, at) => put(store, `${round}-${at}`, { name: `prize-${round}` })),
      );
      equal(results.filter((result) => result.ok).length, 1);
    }
  });

  law("unique: a key is free again after a delete or a change, and two documents may swap keys in one commit", async (store) => {
    await put(store, "a", { name: "x" });
    await put(store, "b", { name: "y" });
    equal((await put(store, "c", { name: "x" })).ok, false);
    const swap = await commit(store, {
      puts: [
        { coll: "things", id: "a", doc: { name: "y" } },
        { coll: "things", id: "b", doc: { name: "x" } },
      ],
    });
    equal(swap.ok, true);
    equal(await ids(store, "by_name", ["x"]), ["b"]);
    const both = await commit(store, {
      puts: [
        { coll: "things", id: "d", doc: { name: "twin" } },
        { coll: "things", id: "e", doc: { name: "twin" } },
      ],
    });
    equal(both.ok ? "accepted" : both.unique.length, 1);
    const handOver = await commit(store, {
      puts: [{ coll: "things", id: "c", doc: { name: "x" } }],
      dels: [{ coll: "things", id: "b" }],
    });
    equal(handOver.ok, true);
    equal((await put(store, "c", { name: "x", n: 2 })).ok, true, "its own key does not stand in its way");
    equal(await ids(store, "by_name", []), ["c", "a"]);
  });

  law("read your commit: what resolved is in every later read, get, list and count", async (store, place) => {
    const reader = multiProcess ? await place.open(suiteSchema) : store;
    for (let n = 0; n < 10; n += 1) {
      await put(store, "a", { kind: "k", rank: n });
      equal((await reader.get("things", "a"))?.doc["rank"], n);
      equal(await ids(reader, "by_kind", ["k", n]), ["a"]);
      equal(await reader.count("things", "by_kind", ["k"]), 1);
    }
    if (multiProcess) await reader.close();
  });

  law("a repeated commitId is answered with the first result and not applied twice", async (store) => {
    const twice: Commit = {
      commitId: "same",
      puts: [{ coll: "things", id: "a", doc: { n: 1 }, ifVersion: 0 }],
      audit: [{ stream: "s", event: { type: "t" } }],
    };
    const [first, second] = await Promise.all([store.commit(twice), store.commit(twice)]);
    await put(store, "b", {});
    // The log has the numbers of a retry's events.
    equal(second, { ...first, audit: [] });
    equal(await store.commit(twice), second);
    equal((await store.auditRead(0, 10)).length, 1);
    equal((await store.changes(0, 10)).length, 2);
  });

  law("no aliasing: input is taken synchronously, output is a fresh copy", async (store) => {
    const doc = { list: [1, 2], kind: "before" };
    const pending = put(store, "a", doc);
    doc.list.push(3);
    doc.kind = "after";
    await pending;
    const read = await store.get("things", "a");
    equal(read?.doc, { list: [1, 2], kind: "before" });
    if (read !== undefined) (read.doc["list"] as number[]).push(9);
    equal((await store.get("things", "a"))?.doc, { list: [1, 2], kind: "before" });
    equal(await ids(store, "by_kind", ["before"]), ["a"]);
  });

  law("refusals: what is out of the domain is refused with its code and nothing changes", async (store) => {
    await put(store, "a", { kind: "k" });
    const before = await everything(store);
    const badDocs: readonly (readonly [string, unknown])[] = [
      ["NaN", { x: Number.NaN }],
      ["infinity", { deep: [{ x: Number.NEGATIVE_INFINITY }] }],
      ["undefined", { x: undefined }],
      ["a function", { x: () => 1 }],
      ["a bigint", { x: 1n }],
      ["a date", { x: new Date(0) }],
      ["a map", { x: new Map() }],
      ["U+0000 in a value", { x: "a\0b" }],
      ["U+0000 in a name", { "a\0": 1 }],
      ["a lone high surrogate", { x: "\ud800" }],
      ["a lone low surrogate", { x: "a\udc00" }],
      ["a lone surrogate in a name", { "\ud83d": 1 }],
      ["a hole", { x: new Array(2) }],
      ["an array as the document", [1]],
      ["null as the document", null],
      ["more than 1 MiB", { x: "x".repeat(1024 * 1024) }],
      ["more than 1 MiB of UTF-8", { x: "\u00e9".repeat(600_000) }],
      ["a key beyond 1 KiB", { any: "x".repeat(1024) }],
      ["a key that is no scalar", { any: [1] }],
    ];
    for (const [name, doc] of badDocs) {
      await refuses(runner, "invalid_document", () => put(store, "bad", doc as JsonObject), `a document with ${name}`);
      if (!name.includes("key") && !name.includes("1 MiB"))
        await refuses(
          runner,
          "invalid_document",
          () => commit(store, { audit: [{ stream: "s", event: doc as JsonObject }] }),
          `an event with ${name}`,
        );
    }
    for (const id of ["", "a\0", "\ud800", "x".repeat(1025)])
      await refuses(runner, "invalid_commit", () => put(store, id, {}), `the id ${JSON.stringify(id.slice(0, 5))}`);
    const bad: readonly (readonly [string, Omit<Commit, "commitId">])[] = [
      ["an unknown collection", { puts: [{ coll: "nothings", id: "a", doc: {} }] }],
      ["a put to audit", { puts: [{ coll: "audit", id: "1", doc: {} }] }],
      ["a delete of audit", { dels: [{ coll: "audit", id: "1" }] }],
      ["a negative version", { puts: [{ coll: "things", id: "a", doc: {}, ifVersion: -1 }] }],
      ["a fractional version", { checks: [{ coll: "things", id: "a", version: 1.5 }] }],
      ["an empty stream", { audit: [{ stream: "", event: {} }] }],
      [
        "the same id put twice",
        {
          puts: [
            { coll: "things", id: "a", doc: {} },
            { coll: "things", id: "a", doc: {} },
          ],
        },
      ],
      ["the same id put and deleted", { puts: [{ coll: "things", id: "a", doc: {} }], dels: [{ coll: "things", id: "a" }] }],
    ];
    for (const [name, rest] of bad) await refuses(runner, "invalid_commit", () => commit(store, rest), name);
    await refuses(runner, "invalid_commit", () => store.commit({ commitId: "" }), "an empty commitId");
    const list =
      (options: object, index = "by_kind", prefix: IndexValue[] = []) =>
      () =>
        store.list("things", index, prefix, { limit: 1, ...options });
    for (const call of [
      list({}, "by_nothing"),
      list({ limit: 0 }),
      list({ limit: 1.5 }),
      list({ offset: -1 }),
      list({}, "by_kind", [Number.NaN]),
      list({}, "by_kind", ["\0"]),
      list({ from: ["\ud800"] }),
      () => store.get("nothings", "a"),
      () => store.count("nothings", "x", []),
      () => store.auditRead(-1, 1),
      () => store.changes(0, 0),
    ])
      await refuses(runner, "invalid_query", call);
    equal(await everything(store), before);
  });

  law("values: what is in the domain comes back equal, -0 as 0", async (store) => {
    const doc: JsonObject = {
      zero: -0,
      extremes: [5e-324, 1.7976931348623157e308, -1.7976931348623157e308, 2 ** 53, 0.1, 1e21, 1e-7],
      text: ["", "\u0001\u007f\u0080\u00ff\u0100\uffee\ufffd\u{1f600}", 'quote" back\\ \n\u2028'],
      "": { "\u{1f600}": null, constructor: true, b: false },
      nested: [[[]], {}, [{ a: [] }]],
    };
    await put(store, "\u{1f600}\u00e9 /%'\"\\", doc);
    const read = (await store.get("things", "\u{1f600}\u00e9 /%'\"\\"))?.doc as JsonObject;
    equal(read, { ...doc, zero: 0 });
    equal(Object.is(read["zero"], 0), true);
    const proto = JSON.parse('{"__proto__":{"x":1}}') as JsonObject;
    await put(store, "p", proto);
    equal(JSON.stringify((await store.get("things", "p"))?.doc), '{"__proto__":{"x":1}}');
    await put(store, "big", { x: "x".repeat(1024 * 1024 - 8) });
    const big = (await store.get("things", "big"))?.doc["x"];
    equal(typeof big === "string" ? big.length : undefined, 1024 * 1024 - 8);
  });

  law("list: null < numbers < false < true < strings by UTF-8 bytes, equal values by id, both directions", async (store) => {
    const ascending: readonly Json[] = [
      null,
      -1.7976931348623157e308,
      -1e21,
      -2,
      -1.5,
      -5e-324,
      0,
      5e-324,
      0.5,
      1,
      2,
      10,
      2 ** 53,
      1e300,
      false,
      true,
      "",
      "\u0001",
      "A",
      "a",
      "a\u0001",
      "aa",
      "b",
      "\u007f",
      "\u0080",
      "\u00ff",
      "\u0100",
      "\uffee",
      "\u{1f600}",
      "\u{1f600}a",
    ];
    const order = ascending.map((any, at) => ({ any, id: `i${String(at).padStart(2, "0")}` }));
    const shuffled = [...order].sort((a, b) => ((a.id.charCodeAt(2) * 7) % 10) - ((b.id.charCodeAt(2) * 7) % 10));
    await commit(store, { puts: shuffled.map(({ any, id }) => ({ coll: "things", id, doc: { any } })) });
    const expected = order.map(({ id }) => id);
    equal(await ids(store, "by_any", []), expected);
    equal(await ids(store, "by_any", [], { reverse: true }), [...expected].reverse());
    for (const [at, { any, id }] of order.entries()) {
      equal(await ids(store, "by_any", [any as IndexValue]), [id], `only ${JSON.stringify(any)}`);
      equal(await ids(store, "by_any", [], { from: [any] }), expected.slice(at));
      equal(await ids(store, "by_any", [], { to: [any] }), expected.slice(0, at + 1));
    }
    equal(await ids(store, "by_any", [], { from: [1], to: ["a"] }), expected.slice(9, 20));
    equal(await store.count("things", "by_any", [], { from: [1], to: ["a"] }), 11);
    equal(await ids(store, "by_any", [], { from: ["z"], to: ["b"] }), []);
    equal(await store.count("things", "by_any", [], { from: ["z"], to: ["b"] }), 0);
  });

  law("list: a prefix covers whole values; ids sort by UTF-8 bytes, also above U+00FF", async (store) => {
    const names = ["a", "a/", "aa", "z", "\u007f", "\u00ff", "\u0100", "\uffee", "\u{1f600}"];
    await commit(store, {
      puts: [
        ...names.map((id) => ({ coll: "things", id, doc: { kind: "k", rank: 1 } })),
        { coll: "things", id: "x1", doc: { kind: "kk", rank: 1 } },
        { coll: "things", id: "x2", doc: { kind: "k", rank: 2 } },
        { coll: "things", id: "x3", doc: { kind: "k" } },
        { coll: "things", id: "x4", doc: { rank: 1 } },
      ],
    });
    equal(await ids(store, "by_kind", ["k", 1]), names);
    equal(await ids(store, "by_kind", ["k"]), ["x3", ...names, "x2"]);
    equal(await ids(store, "by_kind", []), ["x3", ...names, "x2", "x1"]);
    equal(await ids(store, "by_kind", ["k"], { from: [1], to: [1] }), names);
    equal(await ids(store, "by_kind", ["k"], { from: [2] }), ["x2"]);
    equal(await store.count("things", "by_kind", ["k"]), names.length + 2);
    equal(await ids(store, "by_kind", ["k"], { offset: 3, limit: 2 }), ["aa", "z"]);
    equal(await ids(store, "by_kind", ["k"], { offset: 1, limit: 2, reverse: true }), ["\u{1f600}", "\uffee"]);
    equal(await ids(store, "by_kind", ["k"], { offset: 99 }), []);
  });

  law("list: an updated or deleted document leaves its old place in every index", async (store) => {
    await put(store, "a", { kind: "k", rank: 1, any: true });
    await put(store, "a", { kind: "k", rank: 2 });
    equal(await ids(store, "by_kind", ["k"]), ["a"]);
    equal(await ids(store, "by_any", []), []);
    await commit(store, { dels: [{ coll: "things", id: "a" }] });
    equal(await ids(store, "by_kind", []), []);
    equal((await commit(store, { dels: [{ coll: "things", id: "a" }] })).ok, true, "deleting the absent is no conflict");
  });

  for (const reverse of [false, true])
    law(`cursor: a ${reverse ? "reverse " : ""}scan under writes meets what existed throughout exactly once`, async (store) => {
      const stay = Array.from({ length: 40 }, (_, at) => `stay-${String(at).padStart(2, "0")}`);
      await commit(store, {
        puts: stay.flatMap((id, at) => [
          { coll: "things", id, doc: { kind: "k", rank: at >> 2 } },
          { coll: "things", id: `go-${id}`, doc: { kind: "k", rank: at >> 2 } },
        ]),
      });
      const seen: string[] = [];
      let cursor: string | undefined;
      let page = 0;
      do {
        const result = await store.list("things", "by_kind", ["k"], {
          limit: 7,
          reverse,
          ...(cursor === undefined ? {} : { cursor }),
        });
        seen.push(...result.items.map((item) => item.id));
        cursor = result.cursor;
        page += 1;
        await commit(store, {
          puts: [{ coll: "things", id: `come-${page}`, doc: { kind: "k", rank: (page * 3) % 10 } }],
          dels: [{ coll: "things", id: `go-${stay[(page * 11) % 40]}` }],
        });
      } while (cursor !== undefined);
      equal(new Set(seen).size, seen.length, "nothing twice");
      equal(
        seen.filter((id) => id.startsWith("stay")),
        reverse ? [...stay].reverse() : stay,
      );
    });

  law(
    "count: beside writers no less than was acknowledged, no more than was asked for; exact when all is quiet",
    async (store) => {
      let asked = 0;
      let acknowledged = 0;
      const write = async (at: number): Promise<void> => {
        asked += 1;
        await put(store, `w${at}`, { kind: at % 2 === 0 ? "even" : "odd", rank: at });
        acknowledged += 1;
      };
      const look = async (): Promise<void> => {
        const least = acknowledged;
        const count = await store.count("things", "by_kind", []);
        equal([least <= count, count <= asked], [true, true], `${least} <= ${count} <= ${asked}`);
      };
      await Promise.all(
        Array.from({ length: 90 }, async (_, at) => (at % 3 === 0 ? look().then(() => write(at)) : write(at).then(look))),
      );
      equal(await store.count("things", "by_kind", ["even"]), 45);
      await put(store, "w0", { kind: "odd" });
      await commit(store, { dels: Array.from({ length: 10 }, (_, at) => ({ coll: "things", id: `w${2 * at}` })) });
      equal(await store.count("things", "by_kind", []), 80);
      equal(await store.count("things", "by_kind", ["even"]), 35);
      equal(await store.count("things", "by_kind", ["odd"]), 45);
      equal(await store.count("things", "by_kind", ["odd", 1]), 1);
    },
  );

  law("cursor: bound to its list; the last page has none", async (store) => {
    await commit(store, { puts: ["a", "b", "c"].map((id) => ({ coll: "things", id, doc: { kind: "k", any: 1 } })) });
    const { cursor } = await store.list("things", "by_kind", ["k"], { limit: 2 });
    equal(typeof cursor, "string");
    const use =
      (index: string, prefix: IndexValue[], text = cursor, reverse = false) =>
      () =>
        store.list("things", index, prefix, { limit: 2, reverse, cursor: text as string });
    equal(
      (await use("by_kind", ["k"])()).items.map((item) => item.id),
      ["c"],
    );
    equal((await use("by_kind", ["k"])()).cursor, undefined);
    equal((await store.list("things", "by_kind", ["k"], { limit: 3 })).cursor, undefined);
    for (const call of [
      use("by_any", [1]),
      use("by_kind", []),
      use("by_kind", ["k"], cursor, true),
      use("by_kind", ["k"], "zz"),
      use("by_kind", ["k"], ""),
      use("by_kind", ["k"], "\u{1f600}"),
    ])
      await refuses(runner, "invalid_cursor", call);
  });

  law("audit: dense over the store and per stream in commit order, listed and counted by its indexes", async (store) => {
    const first = await commit(store, {
      audit: [
        { stream: "x", event: { type: "b", n: 1 } },
        { stream: "y", event: { type: "a", n: 2 } },
        { stream: "x", event: { type: "a", n: 3 } },
      ],
    });
    const others = await Promise.all(
      Array.from({ length: 12 }, (_, at) =>
        commit(store, { audit: [{ stream: at % 2 === 0 ? "x" : "y", event: { type: "c", at } }] }),
      ),
    );
    const all = await store.auditRead(0, 100);
    const numbers = [first, ...others].flatMap((result) => (result.ok ? result.audit : []));
    equal(
      [...numbers].sort((a, b) => a.seq - b.seq),
      all.map(({ seq, streamSeq }) => ({ seq, streamSeq })),
    );
    for (const [at, { seq }] of numbers.slice(3).entries()) equal(all[seq - 1]?.event, { type: "c", at });
    equal(
      all.map((entry) => entry.seq),
      all.map((_, at) => at + 1),
    );
    for (const stream of ["x", "y"]) {
      const own = all.filter((entry) => entry.stream === stream);
      equal(
        own.map((entry) => entry.streamSeq),
        own.map((_, at) => at + 1),
      );
      const { items } = await store.list("audit", "stream", [stream], { limit: 100 });
      equal(
        items.map(({ id, version, doc }) => ({ id, version, doc })),
        own.map((entry) => ({
          id: String(entry.seq),
          version: entry.seq,
          doc: { seq: entry.seq, stream, stream_seq: entry.streamSeq, event: entry.event },
        })),
      );
    }
    equal(
      (await store.list("audit", "by_type", ["a"], { limit: 9 })).items.map((item) => item.id),
      ["2", "3"],
    );
    equal(await store.count("audit", "by_type", ["c"]), 12);
    equal(
      (await store.list("audit", "by_type", ["c"], { limit: 99, reverse: true })).items.map((item) => item.id),
      Array.from({ length: 12 }, (_, at) => String(15 - at)),
      "equal values sort by sequence, not by its text",
    );
    equal(
      (await store.list("audit", "seq", [], { from: [14], limit: 9 })).items.map((item) => item.id),
      ["14", "15"],
    );
    equal((await store.list("audit", "stream", ["x"], { from: [2], to: [3], limit: 9 })).items.length, 2);
    equal((await store.get("audit", "3"))?.doc["event"], { type: "a", n: 3 });
    equal(await store.getMany("audit", ["99", "01", "x", "2"]).then((slots) => slots.map((slot) => slot?.id)), [
      undefined,
      undefined,
      undefined,
      "2",
    ]);
    equal(
      (await store.auditRead(13, 1)).map((entry) => entry.seq),
      [14],
    );
    equal(await store.auditRead(15, 10), []);
  });

  law(
    "compact: the oldest audit entries go, but for the newest of each stream, from every index, and numbers go on",
    async (store, place) => {
      const said = (stream: string, type: string) => commit(store, { audit: [{ stream, event: { type } }] });
      await said("idle", "a");
      for (let at = 0; at < 6; at += 1) await said(at % 2 === 0 ? "x" : "y", at < 3 ? "a" : "b");
      equal(await store.count("audit", "by_type", ["a"]), 4);
      const seqs = async (of: DocumentStore) => (await of.auditRead(0, 99)).map(({ seq }) => seq);
      await store.compact({ audit: 5 });
      equal(await seqs(store), [1, 6, 7]);
      for (const upTo of [5, 4, 0]) await store.compact({ audit: upTo });
      equal(await seqs(store), [1, 6, 7]);
      const listed = async (of: DocumentStore, index: string, prefix: readonly IndexValue[], options: object = {}) =>
        (await of.list("audit", index, prefix, { limit: 9, ...options })).items.map(({ id }) => id);
      const everywhere = async (of: DocumentStore): Promise<void> => {
        equal(await listed(of, "seq", []), ["1", "6", "7"]);
        equal(await listed(of, "seq", [], { reverse: true, offset: 1 }), ["6", "1"]);
        equal(await listed(of, "seq", [], { from: [2], to: [6] }), ["6"]);
        const page = await of.list("audit", "seq", [], { limit: 2 });
        equal(page.cursor === undefined ? [] : await listed(of, "seq", [], { cursor: page.cursor }), ["7"]);
        equal(await of.count("audit", "seq", []), 3);
        equal(await listed(of, "stream", ["x"]), ["6"]);
        equal(await listed(of, "by_type", ["a"]), ["1"]);
        equal([await of.count("audit", "by_type", ["a"]), await of.count("audit", "by_type", ["b"])], [1, 2]);
        equal([await of.get("audit", "3"), (await of.get("audit", "6"))?.version], [undefined, 6]);
      };
      await everywhere(store);
      // Beyond the end of the log everything but the newest of each stream goes.
      await store.compact({ audit: 1000 });
      equal(await seqs(store), [1, 6, 7]);
      if (durable && !multiProcess) {
        await store.close();
        const again = await place.open(suiteSchema);
        await everywhere(again);
        await again.close();
        return;
      }
      equal((await said("idle", "c")).ok, true);
      equal(
        (await store.auditRead(7, 9)).map(({ seq, streamSeq }) => [seq, streamSeq]),
        [[8, 2]],
      );
      await store.compact({ audit: 8 });
      equal(await seqs(store), [6, 7, 8]);
    },
  );

  law("compact: the oldest changes go but for the newest, and who reads from before what is left is told", async (store) => {
    for (const id of ["a", "b", "c", "d"]) await put(store, id, {});
    await commit(store, { audit: [{ stream: "s", event: { type: "t" } }] });
    await store.compact({ changes: 2 });
    equal(
      (await store.changes(2, 9)).map(({ seq }) => seq),
      [3, 4],
    );
    await refuses(runner, "changes_compacted", () => store.changes(1, 9));
    await refuses(runner, "changes_compacted", () => store.changes(0, 1));
    await store.compact({ changes: 99 });
    equal(
      (await store.changes(3, 9)).map(({ id }) => id),
      ["d"],
    );
    equal(await store.changes(4, 9), []);
    await refuses(runner, "changes_compacted", () => store.changes(2, 9));
    await put(store, "e", {});
    equal(
      (await store.changes(4, 9)).map(({ id }) => id),
      ["e"],
    );
    equal((await store.auditRead(0, 9)).length, 1);
    equal((await store.get("things", "a"))?.doc, {});
    for (const upTo of [{ audit: -1 }, { changes: 0.5 }]) await refuses(runner, "invalid_query", () => store.compact(upTo));
  });

  law("changes: dense, in commit order, naming the version or the deletion", async (store) => {
    const first = versionOf(await put(store, "a", {}), "a");
    const second = versionOf(await put(store, "a", { n: 2 }), "a");
    await commit(store, { dels: [{ coll: "things", id: "a" }] });
    await commit(store, { dels: [{ coll: "things", id: "a" }] });
    await commit(store, { audit: [{ stream: "s", event: { type: "t" } }] });
    equal(await store.changes(0, 10), [
      { seq: 1, coll: "things", id: "a", version: first },
      { seq: 2, coll: "things", id: "a", version: second },
      { seq: 3, coll: "things", id: "a" },
    ]);
    equal((await store.changes(1, 1))[0]?.seq, 2);
    equal(await store.changes(3, 1), []);
  });

  law(
    "audit time: never goes back in the order of the entries, whoever writes and whenever, and the indexes have it",
    async (store) => {
      const by_time: IndexSpec = { key: ({ stream, event }) => [stream as string, (event as JsonObject)["at"] as IndexValue] };
      const schema: SuiteSchema = { ...suiteSchema, auditIndexes: { ...suiteSchema.auditIndexes, by_time }, auditTime: "at" };
      const timed = await subject.place();
      try {
        let own = await timed.open(schema);
        const other = multiProcess ? await timed.open(schema) : own;
        const event = (at: Json) => ({ stream: `s${String(at).length % 2}`, event: { type: "t", at, of: at } });
        const wrote: Json[] = ["3", "1", "2", "5", "4", null, "4", "6"];
        for (const [n, at] of wrote.entries()) await commit(n % 2 === 0 ? own : other, { audit: [event(at)] });
        await commit(own, { audit: [event("5"), event("8"), event("7")] });
        if (other !== own) await other.close();
        if (durable) {
          await own.close();
          own = await timed.open(schema);
        }
        const last = await Promise.all([commit(own, { audit: [event("0")] }), commit(own, { audit: [event("9")] })]);
        const entries = await own.auditRead(0, 99);
        equal(
          last.flatMap((result) => (result.ok ? result.audit.map(({ time }) => time) : [])),
          ["8", undefined],
        );
        equal(
          entries.map(({ event: { at } }) => at),
          ["3", "3", "3", "5", "5", null, "5", "6", "6", "8", "8", "8", "9"],
        );
        equal(
          entries.map(({ event: { of } }) => of),
          [...wrote, "5", "8", "7", "0", "9"],
        );
        const { items } = await own.list("audit", "by_time", ["s1"], { from: ["5"], to: ["8"], limit: 99 });
        equal(
          items.map(({ doc }) => (doc["event"] as JsonObject)["of"] as Json),
          ["5", "4", "4", "6", "5", "8", "7", "0"],
        );
        await own.close();
      } finally {
        await timed.destroy();
      }
      // Where no member is named, events are written as they are.
      for (const at of ["2", "1"]) await commit(store, { audit: [{ stream: "s", event: { type: "t", at } }] });
      equal(
        (await store.auditRead(0, 9)).map(({ event: { at } }) => at),
        ["2", "1"],
      );
    },
  );

  law("a tail reader beside 8 writers skips no change and no audit entry", async (store) => {
    const each = 25;
    let writing = 8;
    const writers = Array.from({ length: 8 }, async (_, writer) => {
      for (let n = 0; n < each; n += 1)
        await commit(store, {
          puts: [{ coll: "things", id: `${writer}-${n}`, doc: {} }],
          audit: [{ stream: `w${writer}`, event: { type: "t", n } }],
        });
      writing -= 1;
    });
    const changed: string[] = [];
    const audited: number[] = [];
    for (let last = false; ; ) {
      last = writing === 0;
      for (const change of await store.changes(changed.length, 50)) {
        changed.push(change.id);
        equal(change.seq, changed.length);
      }
      for (const entry of await store.auditRead(audited.length, 50)) {
        audited.push(entry.seq);
        equal(entry.seq, audited.length);
      }
      if (last && changed.length >= 8 * each && audited.length >= 8 * each) break;
    }
    await Promise.all(writers);
    equal(new Set(changed).size, 8 * each);
  });

  law("subscribe: wakes after a commit until it is cancelled", async (store) => {
    let wake: () => void = () => {};
    const woken = new Promise<void>((resolve) => {
      wake = resolve;
    });
    let after = 0;
    const cancelFirst = store.subscribe(() => {
      after += 1;
    });
    cancelFirst();
    const cancel = store.subscribe((seq) => seq >= 1 && wake());
    await put(store, "a", {});
    await woken;
    equal(after, 0);
    cancel();
  });

  law("close: waits for commits in flight; later calls fail with store_closed", async (store, place) => {
    const flying = Array.from({ length: 20 }, (_, at) => put(store, `f${at}`, { kind: "k" }, 0));
    await store.close();
    const results = await Promise.all(flying);
    equal(
      results.every((result) => result.ok),
      true,
    );
    for (const call of [
      () => store.get("things", "f0"),
      () => store.getMany("things", ["f0"]),
      () => store.list("things", "by_kind", [], { limit: 1 }),
      () => store.count("things", "by_kind", []),
      () => put(store, "late", {}),
      () => store.auditRead(0, 1),
      () => store.changes(0, 1),
      () => store.subscribe(() => {}),
    ])
      await refuses(runner, "store_closed", call);
    await store.close();
    if (!durable) return;
    const again = await place.open(suiteSchema);
    equal(await again.count("things", "by_kind", ["k"]), 20);
    equal(await again.get("things", "late"), undefined);
    await again.close();
  });

  runner.test("a schema that cannot be kept is refused by name", async () => {
    const place = await subject.place();
    const spec: IndexSpec = { key: () => [] };
    const same = (doc: JsonObject): JsonObject => doc;
    for (const schema of [
      { collections: { Things: { indexes: {} } }, auditIndexes: {} },
      { collections: { audit: { indexes: {} } }, auditIndexes: {} },
      { collections: { a: { indexes: { "by-x": spec } } }, auditIndexes: {} },
      { collections: { ["a".repeat(41)]: { indexes: {} } }, auditIndexes: {} },
      { collections: {}, auditIndexes: { stream: spec } },
      { collections: {}, auditIndexes: { x: { ...spec, unique: true } } },
      { collections: { a: { indexes: {}, version: 0 } }, auditIndexes: {} },
      { collections: { a: { indexes: {}, version: 1.5 } }, auditIndexes: {} },
      { collections: { a: { indexes: {}, version: 3, upgrade: { 3: same } } }, auditIndexes: {} },
      { collections: { a: { indexes: {}, version: 2, upgrade: { 2: same, 3: same } } }, auditIndexes: {} },
      { collections: { a: { indexes: {}, upgrade: { 1: same } } }, auditIndexes: {} },
    ])
      await refuses(runner, "invalid_schema", () => place.open(schema));
    await place.destroy();
  });

  runner.test("an audit index sees what is known before the commit: the stream and the event, no number", async () => {
    const place = await subject.place();
    const store = await place.open({ collections: {}, auditIndexes: { x: { key: (doc) => [doc["seq"] as IndexValue] } } });
    await refuses(runner, "invalid_document", () => commit(store, { audit: [{ stream: "s", event: {} }] }));
    equal((await store.auditRead(0, 1)).length, 0);
    await store.close();
    await place.destroy();
  });

  if (durable) {
    law("durable: documents, indexes, audit, changes, versions and commit ids survive a reopen", async (store, place) => {
      await commit(store, {
        puts: Array.from({ length: 20 }, (_, at) => ({
          coll: "things",
          id: `d${at}`,
          doc: { kind: "k", rank: at, name: `n${at}`, any: at % 2 === 0 },
        })),
        audit: [{ stream: "s", event: { type: "t" } }],
      });
      const once: Commit = { commitId: "once", puts: [{ coll: "things", id: "d0", doc: { kind: "again" } }] };
      const first = await store.commit(once);
      const before = await everything(store);
      await store.close();
      const again = await place.open(suiteSchema);
      equal(await everything(again), before);
      equal(await again.commit(once), first);
      equal(await everything(again), before);
      const next = await commit(again, { puts: [{ coll: "things", id: "d1", doc: { name: "n2" } }] });
      equal(next.ok, false);
      equal((await commit(again, { audit: [{ stream: "s", event: { type: "t" } }] })).ok, true);
      equal(
        (await again.auditRead(1, 9)).map((entry) => [entry.seq, entry.streamSeq]),
        [[2, 2]],
      );
      await again.close();
    });

    law("an index that is new, changed or no longer declared is right after the next open", async (store, place) => {
      await commit(store, {
        puts: Array.from({ length: 300 }, (_, at) => ({ coll: "things", id: `r${at}`, doc: { kind: "k", rank: at } })),
        audit: Array.from({ length: 5 }, (_, n) => ({ stream: "s", event: { type: "t", n } })),
      });
      await store.close();
      const things = suiteSchema.collections["things"]?.indexes ?? {};
      const changed: SuiteSchema = {
        collections: {
          things: {
            indexes: {
              by_kind: { key: (doc) => [-(doc["rank"] as number)], revision: 2 },
              by_half: { key: (doc) => ((doc["rank"] as number) % 2 === 0 ? [doc["rank"] as number] : undefined) },
            },
          },
          others: { indexes: {} },
          fresh: { indexes: {} },
        },
        auditIndexes: { by_n: { key: ({ event }) => [-((event as JsonObject)["n"] as number)] } },
      };
      const second = await place.open(changed);
      equal(await ids(second, "by_kind", [], { limit: 2 }), ["r299", "r298"]);
      equal(await second.count("things", "by_half", []), 150);
      equal((await second.list("audit", "by_n", [], { limit: 1 })).items[0]?.id, "5");
      await refuses(runner, "invalid_query", () => second.count("things", "by_name", []));
      await put(second, "r0", { rank: 1000 });
      await second.close();
      const third = await place.open({
        collections: {
          ...suiteSchema.collections,
          things: { indexes: { ...things, by_kind: { ...(things["by_kind"] as IndexSpec), revision: 3 } } },
        },
        auditIndexes: suiteSchema.auditIndexes,
      });
      equal(await third.count("things", "by_kind", ["k"]), 299);
      equal(await third.count("audit", "by_type", ["t"]), 5);
      await third.close();
    });

    law("a unique index over documents that already share a key is refused at open", async (store, place) => {
      await put(store, "a", { any: 1 });
      await put(store, "b", { any: 1 });
      await store.close();
      await refuses(runner, "invalid_schema", () =>
        place.open({
          collections: {
            things: { indexes: { by_only: { key: (doc) => [doc["any"] as IndexValue], unique: true } } },
            others: { indexes: {} },
          },
          auditIndexes: {},
        }),
      );
      const again = await place.open(suiteSchema);
      equal(await ids(again, "by_any", [1]), ["a", "b"], "nothing was damaged");
      await again.close();
    });
  }

  if (multiProcess)
    law("two instances on one database race fairly, number densely and wake each other", async (store, place) => {
      const other = await place.open(suiteSchema);
      const woken = new Promise<void>((resolve) => {
        other.subscribe(() => resolve());
      });
      const results = await Promise.all(
        Array.from({ length: 60 }, (_, at) =>
          commit(at % 2 === 0 ? store : other, {
            puts: [{ coll: "things", id: `x${at % 10}`, doc: { at }, ifVersion: 0 }],
            audit: [{ stream: "s", event: { type: "t", at } }],
          }),
        ),
      );
      await woken;
      equal(results.filter((result) => result.ok).length, 10);
      const entries = await other.auditRead(0, 100);
      equal(
        entries.map((entry) => [entry.seq, entry.streamSeq]),
        entries.map((_, at) => [at + 1, at + 1]),
      );
      equal(entries.length, 10);
      const retry: Commit = { commitId: "elsewhere", puts: [{ coll: "things", id: "r", doc: {} }] };
      equal(await other.commit(retry), await store.commit(retry));
      await other.close();
    });

  runner.test("old data: what says which version wrote a document is the store's own, in every version", async () => {
    const place = await subject.place();
    const store = await place.open(versionedSchema(3));
    await put(store, "a", { title: "x", tags: [] });
    await commit(store, { puts: [{ coll: "others", id: "o", doc: {} }] });
    equal((await store.get("things", "a"))?.doc, { title: "x", tags: [] });
    equal((await store.get("others", "o"))?.doc, {});
    for (const coll of ["things", "others"])
      await refuses(runner, "invalid_document", () => commit(store, { puts: [{ coll, id: "b", doc: { $version: 1 } }] }));
    await store.close();
    await place.destroy();
  });

  if (durable)
    runner.test(
      "old data: documents of every earlier version are read, listed and indexed as today's, and written so",
      async () => {
        const place = await subject.place();
        const first = await place.open(versionedSchema(1));
        const version = versionOf(await put(first, "a", { name: "Ann" }), "a");
        await put(first, "gone", { name: "Gus" });
        await commit(first, { puts: [{ coll: "others", id: "o", doc: { n: 1 } }] });
        await first.close();
        const second = await place.open(versionedSchema(2));
        await put(second, "b", { title: "Bob" });
        const seen = await second.changes(0, 10);
        await second.close();

        const store = await place.open(versionedSchema(3));
        const ann = { id: "a", version, doc: { title: "Ann", tags: [] } };
        equal(await store.get("things", "a"), ann);
        equal(
          (await store.getMany("things", ["b", "a"])).map((item) => item?.doc),
          [{ title: "Bob", tags: [] }, ann.doc],
        );
        equal((await store.list("things", "by_title", ["Ann"], { limit: 9 })).items, [ann]);
        equal(await ids(store, "by_title", []), ["a", "b", "gone"]);
        equal(await store.count("things", "by_tags", [0]), 3);
        equal((await store.get("others", "o"))?.doc, { n: 1 });
        equal(await store.changes(0, 10), seen, "reading changes nothing");
        equal((await put(store, "a", { title: "Ada", tags: ["x"] }, version)).ok, true);
        await commit(store, { dels: [{ coll: "things", id: "gone" }] });
        equal((await put(store, "c", { title: "Ann", tags: [] })).ok, true, "a unique key that was given up is free");
        equal((await put(store, "d", { title: "Bob", tags: [] })).ok, false, "a unique key of an upgraded document is taken");
        equal(await ids(store, "by_title", []), ["a", "c", "b"]);
        equal(await store.count("things", "by_tags", [0]), 2);
        await store.close();

        const again = await place.open(versionedSchema(3));
        equal((await again.get("things", "a"))?.doc, { title: "Ada", tags: ["x"] });
        await again.close();
        await place.destroy();
      },
    );

  if (durable)
    runner.test("old data: a document of a later version is refused by name and left as it is", async () => {
      const place = await subject.place();
      const newer = await place.open(versionedSchema(3));
      await commit(newer, {
        puts: [
          { coll: "things", id: "a", doc: { title: "x", tags: [] } },
          { coll: "plain", id: "p", doc: { n: 3 } },
        ],
      });
      await newer.close();
      const older = versionedSchema(2);
      const refused = await place.open(older).then(
        () => undefined,
        (error: unknown) => error,
      );
      equal(
        [(refused as CodedError | undefined)?.code, (refused as CodedError | undefined)?.details],
        ["unknown_version", { coll: "things", id: "a", version: 3, known: 2 }],
        "an index is never built of what is not understood",
      );
      const { plain = { indexes: {} }, others = { indexes: {} } } = older.collections;
      const store = await place.open({ collections: { plain, others }, auditIndexes: {} });
      await refuses(runner, "unknown_version", () => store.get("plain", "p"));
      await refuses(runner, "unknown_version", () => store.getMany("plain", ["none", "p"]));
      equal(await store.get("plain", "none"), undefined);
      await store.close();

      const again = await place.open(versionedSchema(3));
      equal((await again.get("plain", "p"))?.doc, { n: 3 });
      equal(await ids(again, "by_title", ["x"]), ["a"]);
      await again.close();
      await place.destroy();
    });

  auditSequenceTest(runner, subject, law);
  documentStoreModelTest(runner, subject, law);
}
