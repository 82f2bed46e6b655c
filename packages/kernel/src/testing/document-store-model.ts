import type { JsonObject } from "../json.ts";
import type { Commit, CommitResult, DocumentStore, IndexValue } from "../ports/document-store.ts";
import { compareIndexKeys, compareIndexValues } from "./compare-index-values.ts";
import { seededIntegers } from "./seeded-integers.ts";
import type { StorePlace, StoreUnderTest } from "./store-under-test.ts";
import type { SuiteRunner } from "./suite.ts";

type Law = (name: string, body: (store: DocumentStore, place: StorePlace) => Promise<void>) => void;
type Model = Map<string, { readonly version: number; readonly doc: JsonObject }>;

const pool: readonly IndexValue[] = [null, -1, 0, 2.5, false, true, "", "a", "ab", "\u00ff", "\uffee", "\u{1f600}"];

/**
 * Random commits by 16 callers at once against a plain map: what was accepted must have been right on the state that the
 * commits before it (by sequence) left, what was rejected must say why, and every list must equal the slow sort of the map.
 */
export function documentStoreModelTest(runner: SuiteRunner, subject: StoreUnderTest, law: Law): void {
  const seed = subject.seed ?? 1;
  law(`model: 16 callers against a plain map (seed ${seed})`, async (store) => {
    const pick = seededIntegers(seed);
    const model: Model = new Map();
    let audited = 0;
    for (let round = 0; round < (subject.rounds ?? 12); round += 1) {
      const commits = Array.from({ length: 16 }, (_, at) => randomCommit(pick, model, `${round}-${at}`));
      const results = await Promise.all(commits.map((commit) => store.commit(commit)));
      const inOrder = commits
        .map((commit, at) => ({ commit, result: results[at] as CommitResult }))
        .sort((a, b) => (a.result.ok ? a.result.seq : Infinity) - (b.result.ok ? b.result.seq : Infinity));
      for (const { commit, result } of inOrder) {
        if (!result.ok) {
          runner.equal(result.failed.length + result.unique.length > 0, true, "a conflict names its reason");
          continue;
        }
        runner.equal(problemOf(model, commit), undefined, `seed ${seed}, accepted ${JSON.stringify(commit)}`);
        for (const { id } of commit.dels ?? []) model.delete(id);
        for (const { id, doc } of commit.puts ?? [])
          model.set(id, { doc, version: result.versions[`things/${id}`] ?? Number.NaN });
        audited += commit.audit?.length ?? 0;
      }
      await compare(runner, store, model, pick);
      runner.equal((await store.auditRead(0, 10_000)).length, audited);
    }
  });
}

function randomCommit(pick: (below: number) => number, model: Model, commitId: string): Commit {
  const ids = new Set(Array.from({ length: 1 + pick(3) }, () => `id${pick(20)}`));
  const condition = (id: string): { ifVersion?: number } => {
    const version = model.get(id)?.version ?? 0;
    return [{}, { ifVersion: version }, { ifVersion: version }, { ifVersion: pick(30) }][pick(4)] as { ifVersion?: number };
  };
  const puts = [];
  const dels = [];
  for (const id of ids)
    if (pick(4) === 0) dels.push({ coll: "things", id, ...condition(id) });
    else puts.push({ coll: "things", id, doc: randomDoc(pick), ...condition(id) });
  const checked = `id${pick(20)}`;
  const checks = pick(3) === 0 ? [{ coll: "things", id: checked, version: model.get(checked)?.version ?? 0 }] : [];
  return { commitId, puts, dels, checks, audit: [{ stream: `s${pick(3)}`, event: { type: "t", commitId } }] };
}

function randomDoc(pick: (below: number) => number): JsonObject {
  return {
    kind: pool[pick(4)] as IndexValue,
    ...(pick(2) === 0 ? {} : { rank: pick(5) - 2 }),
    ...(pick(2) === 0 ? {} : { name: `name${pick(15)}` }),
    ...(pick(3) === 0 ? {} : { any: pool[pick(pool.length)] as IndexValue }),
  };
}

function problemOf(model: Model, commit: Commit): string | undefined {
  for (const { id, ifVersion } of [...(commit.puts ?? []), ...(commit.dels ?? [])])
    if (ifVersion !== undefined && ifVersion !== (model.get(id)?.version ?? 0)) return `version of ${id}`;
  for (const { id, version } of commit.checks ?? []) if (version !== (model.get(id)?.version ?? 0)) return `check of ${id}`;
  const after = new Map([...model].map(([id, { doc }]) => [id, doc]));
  for (const { id } of commit.dels ?? []) after.delete(id);
  for (const { id, doc } of commit.puts ?? []) after.set(id, doc);
  const names = [...after.values()].map((doc) => doc["name"]).filter((name) => name !== undefined);
  return new Set(names).size === names.length ? undefined : "unique name";
}

async function compare(runner: SuiteRunner, store: DocumentStore, model: Model, pick: (below: number) => number): Promise<void> {
  const keysOf: Record<string, (doc: JsonObject) => IndexValue[] | undefined> = {
    by_kind: (doc) => [doc["kind"] as IndexValue, (doc["rank"] ?? null) as IndexValue],
    by_name: (doc) => (doc["name"] === undefined ? undefined : [doc["name"] as IndexValue]),
    by_any: (doc) => (doc["any"] === undefined ? undefined : [doc["any"] as IndexValue]),
  };
  for (const [index, keyOf] of Object.entries(keysOf)) {
    const prefix = index === "by_kind" && pick(2) === 0 ? [pool[pick(4)] as IndexValue] : [];
    const from = pick(2) === 0 ? [pool[pick(pool.length)] as IndexValue] : undefined;
    const to = pick(2) === 0 ? [pool[pick(pool.length)] as IndexValue] : undefined;
    const reverse = pick(2) === 0;
    const expected = [...model]
      .flatMap(([id, { doc, version }]) => {
        const key = keyOf(doc);
        return key === undefined ? [] : [{ id, version, doc, key }];
      })
      .filter(({ key }) => prefix.every((value, at) => compareIndexValues(value, key[at] as IndexValue) === 0))
      .filter(({ key }) => from === undefined || compareIndexValues(key[prefix.length] ?? null, from[0] as IndexValue) >= 0)
      .filter(({ key }) => to === undefined || compareIndexValues(key[prefix.length] ?? null, to[0] as IndexValue) <= 0)
      .sort((a, b) => compareIndexKeys([...a.key, a.id], [...b.key, b.id]) * (reverse ? -1 : 1));
    const range = { ...(from === undefined ? {} : { from }), ...(to === undefined ? {} : { to }) };
    const items = [];
    let cursor: string | undefined;
    do {
      const page = await store.list("things", index, prefix, {
        limit: 1 + pick(9),
        reverse,
        ...range,
        ...(cursor === undefined ? {} : { cursor }),
      });
      items.push(...page.items);
      cursor = page.cursor;
    } while (cursor !== undefined);
    runner.equal(
      items,
      expected.map(({ id, version, doc }) => ({ id, version, doc })),
    );
    runner.equal(await store.count("things", index, prefix, range), expected.length);
  }
  const ids = Array.from({ length: 20 }, (_, at) => `id${at}`);
  runner.equal(
    (await store.getMany("things", ids)).map((item) => item?.version),
    ids.map((id) => model.get(id)?.version),
  );
}
