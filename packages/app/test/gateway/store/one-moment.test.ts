import { openLogger } from "@seneschal/adapters/logging";
import { openMemoryStore, settableClock } from "@seneschal/adapters/memory";
import { nodeCrypto } from "@seneschal/adapters/node-crypto";
import { systemRandom } from "@seneschal/adapters/system";
import { openEmbeddedVault, vaultCollections } from "@seneschal/adapters/vault";
import type { DocumentStore } from "@seneschal/kernel/ports";
import fc from "fast-check";
import { describe, expect, it, vi } from "vitest";
import { auditLog } from "../../../src/gateway/ground/audit/log.ts";
import { handlersOfOneMoment, ofOneMoment, quietStore } from "../../../src/gateway/ground/store/of-one-moment.ts";
import { cachedReader, type Reader, reader } from "../../../src/gateway/ground/store/reader.ts";
import { transact } from "../../../src/gateway/ground/store/unit-of-work.ts";
import { gatewaySchema } from "../../../src/gateway/index.ts";
import type { GatewayServices } from "../../../src/gateway/services.ts";
import { collection } from "../../../src/platform/collection.ts";
import { admissions, recordedReads } from "../../../src/platform/index.ts";

/** Two halves of one thing: whoever sees them differ, or not exactly one of them listed, saw what never was. */
interface Half {
  readonly value: number;
  readonly side: "left" | "right";
}
const halves = collection<Half>("halves", {
  all: { key: ({ value }) => [value] },
  on_duty: { key: ({ side, value }) => ((side === "left") === (value % 2 === 0) ? [side] : undefined) },
});

const commitIds = (name: string) => {
  let next = 0;
  return () => `${name}-${next++}`;
};

/** One process's view of a shared store: each call takes effect and answers when the scheduler says. */
function scheduled(inner: DocumentStore, scheduler: fc.Scheduler, multiProcess = true): DocumentStore {
  const late = <A extends unknown[], R>(work: (...args: A) => Promise<R>) => scheduler.scheduleFunction(work);
  return {
    ...inner,
    capabilities: { ...inner.capabilities, multiProcess },
    get: late((...args) => inner.get(...args)),
    getMany: late((...args) => inner.getMany(...args)),
    list: late((...args) => inner.list(...args)),
    count: late((...args) => inner.count(...args)),
    auditRead: late((...args) => inner.auditRead(...args)),
    commit: late((commit) => inner.commit(commit)),
  };
}

/** Reads in every way; throws, as a handler does, when what it read contradicts itself. */
async function judge(read: Reader): Promise<number> {
  const left = await read.get(halves, "left");
  const [right, listed, onDuty] = await Promise.all([
    read.get(halves, "right"),
    read.list(halves, "all", []),
    read.page(halves, "on_duty", [], { limit: 1, offset: 0 }),
  ]);
  const values = new Set([left?.value, right?.value, ...listed.map(({ value }) => value)]);
  if (values.size !== 1) throw new Error(`torn: ${[...values]}`);
  if (onDuty.total !== 1 || onDuty.items.length !== 1) throw new Error(`torn: ${onDuty.total} on duty`);
  return left?.value ?? -1;
}

const writes = (value: number) => ["left", "right"].map((side) => ({ coll: "halves", id: side, doc: { value, side } }));

async function world(scheduler: fc.Scheduler, multiProcess: boolean, updates: number) {
  const inner = openMemoryStore({ collections: { halves } });
  await inner.commit({ commitId: "first", puts: writes(0) });
  const { store, quiet } = quietStore(scheduled(inner, scheduler, multiProcess));
  const writer = async () => {
    for (let value = 1; value <= updates; value += 1) await store.commit({ commitId: `w${value}`, puts: writes(value) });
  };
  const { store: remembered } = cachedReader(store);
  const services = { store, quiet, read: reader(store), remembered } as unknown as GatewayServices;
  return { inner, store, services, writer };
}

describe("whoever reads several things while others write", () => {
  it("a unit of work that throws, or only answers, judged what was true at one moment", () =>
    fc.assert(
      fc.asyncProperty(fc.scheduler(), fc.boolean(), fc.integer({ min: 1, max: 6 }), async (scheduler, shared, updates) => {
        const { store, writer } = await world(scheduler, shared, updates);
        const reading = transact(store, commitIds("r"), async (unit) => judge(unit));
        await scheduler.waitFor(Promise.all([reading, writer()]));
        expect(await reading).toBeLessThanOrEqual(updates);
      }),
    ));

  it("a handler answers, throws and writes on reads of one moment, and writes once", () =>
    fc.assert(
      fc.asyncProperty(
        fc.scheduler(),
        fc.boolean(),
        fc.boolean(),
        fc.integer({ min: 1, max: 6 }),
        async (scheduler, shared, records, updates) => {
          const { inner, store, services, writer } = await world(scheduler, shared, updates);
          const ids = commitIds("h");
          const whole: GatewayServices = {
            ...services,
            transact: (_call, work) => transact(store, ids, (unit) => work(unit as never)),
          };
          const handling = ofOneMoment(whole, async (own) => {
            const value = await judge(own.read);
            if (records) await own.transact(undefined as never, async (unit) => unit.audit({ stream: "s", event: { value } }));
            return value;
          });
          await scheduler.waitFor(Promise.all([handling, writer()]));
          const value = await handling;
          const entries = await inner.auditRead(0, 10);
          expect(entries.map(({ event }) => event["value"])).toEqual(records ? [value] : []);
        },
      ),
    ));

  it("what the caller was let in by is of the same moment as what the handler reads and writes, or is asked anew", () =>
    fc.assert(
      fc.asyncProperty(
        fc.array(fc.boolean(), { maxLength: 16 }),
        fc.boolean(),
        fc.boolean(),
        async (plan, multiProcess, records) => {
          const inner = openMemoryStore({ collections: { halves } });
          await inner.commit({ commitId: "first", puts: writes(0) });
          // Somebody writes just before the calls of the plan; of a store that is this process's alone, before reads only.
          let value = 0;
          let call = 0;
          const disturbed =
            <A extends unknown[], R>(work: (...args: A) => Promise<R>) =>
            async (...args: A): Promise<R> => {
              if (plan[call++] === true) {
                value += 1;
                const commit = { commitId: `w${value}`, puts: writes(value) };
                expect(await (multiProcess ? inner : store).commit(commit)).toMatchObject({ ok: true });
              }
              return work(...args);
            };
          const { store, quiet } = quietStore({
            ...inner,
            capabilities: { ...inner.capabilities, multiProcess },
            get: disturbed((...args) => inner.get(...args)),
            getMany: disturbed((...args) => inner.getMany(...args)),
            list: disturbed((...args) => inner.list(...args)),
            commit: multiProcess ? disturbed((commit) => inner.commit(commit)) : (commit) => inner.commit(commit),
          });
          const cached = cachedReader(store);
          // The caller is who the left half says; the handler does its work on the right one.
          const { authenticate, authorise, of } = admissions(
            () => ({ quiet: quiet(), reads: recordedReads(cached.store, { again: store }) }),
            (reads) => async () => {
              const left = await reader(reads.store).get(halves, "left");
              return { id: String(left?.value), type: "user", org: "o", roles: [], scopes: [], method: "test" };
            },
            (reads) => async (input) => {
              const listed = await reader(reads.store).list(halves, "all", []);
              if (listed.some(({ value: seen }) => String(seen) !== input.principal?.id)) throw new Error("refused");
            },
          );
          const ids = commitIds("h");
          const services = {
            store,
            quiet,
            read: cached,
            remembered: cached.store,
            admissionOf: of,
            transact: (_call, work, admission) => transact(store, ids, (unit) => work(unit as never), cached.forget, admission),
          } as Partial<GatewayServices> as GatewayServices;
          const { work } = handlersOfOneMoment({
            work: async (own: GatewayServices, { principal }: { principal: { id: string } }) => {
              const judged = async (read: Reader) => [principal.id, String((await read.get(halves, "right"))?.value)];
              if (!records) return judged(own.read);
              return own.transact(undefined as never, async (unit) => {
                const values = await judged(unit);
                unit.audit({ stream: "s", event: { values } });
                return values;
              });
            },
          } as never) as unknown as { work: (services: GatewayServices, input: object) => Promise<readonly string[]> };
          const called = async () => {
            const principal = await authenticate({} as never, {} as never);
            await authorise({ principal } as never);
            return work(services, { principal });
          };
          const answer = await called().catch((error: Error & { code?: string }) => error.code ?? error.message);
          const events = (await inner.auditRead(0, 10)).map(({ event }) => event["values"]);
          // Who is refused, for what was written while they were let in, has done nothing.
          if (typeof answer === "string")
            expect([["refused", "SERVICE_UNAVAILABLE"].includes(answer), events]).toEqual([true, []]);
          else expect([answer[0], events]).toEqual([answer[1], records ? [answer] : []]);
        },
      ),
    ));

  it("what is remembered from before a change that is stored, and that this process has not heard of yet, is found out by its version", async () => {
    const inner = openMemoryStore({ collections: { halves } });
    await inner.commit({ commitId: "first", puts: writes(0) });
    let acknowledge = (): void => undefined;
    const acknowledged = new Promise<void>((resolve) => {
      acknowledge = resolve;
    });
    const { store, quiet } = quietStore({
      ...inner,
      subscribe: () => () => undefined,
      commit: (commit) => inner.commit(commit).finally(() => acknowledged),
    });
    const cached = cachedReader(store);
    await cached.list(halves, "all", []);
    const writing = store.commit({ commitId: "second", puts: writes(1) });
    await expect.poll(async () => (await inner.get("halves", "left"))?.doc["value"]).toBe(1);
    const services = { store, quiet, read: cached, remembered: cached.store } as unknown as GatewayServices;
    expect(await ofOneMoment(services, (own) => judge(own.read))).toBe(1);
    acknowledge();
    await writing;
  });

  it("a change that is stored, and that this process has not heard of yet, keeps nobody from an answer", async () => {
    const inner = openMemoryStore({ collections: { halves } });
    await inner.commit({ commitId: "first", puts: writes(0) });
    const late: (() => void)[] = [];
    const { store, quiet } = quietStore({
      ...inner,
      async commit(commit) {
        const result = await inner.commit(commit);
        await new Promise<void>((resolve) => late.push(resolve));
        return result;
      },
      subscribe: (callback) => inner.subscribe((seq) => late.push(() => callback(seq))),
    });
    const cached = cachedReader(store);
    const { authenticate, of } = admissions(
      (again) => ({ quiet: quiet(), reads: recordedReads(again ? store : cached.store, { again: store }) }),
      (reads) => async () => {
        const left = await reader(reads.store).get(halves, "left");
        return { id: String(left?.value), type: "user", org: "o", roles: [], scopes: [], method: "test" };
      },
      () => async () => undefined,
    );
    const services = { store, quiet, read: cached, remembered: cached.store, admissionOf: of } as Partial<GatewayServices>;
    const { work } = handlersOfOneMoment({
      work: async (own: GatewayServices, { principal }: { principal: { id: string } }) => [
        principal.id,
        String((await own.read.get(halves, "right"))?.value),
      ],
    } as never) as unknown as { work: (services: object, input: object) => Promise<readonly string[]> };
    const answer = async () => work(services, { principal: await authenticate({} as never, {} as never) });
    expect(await answer()).toEqual(["0", "0"]);
    const writing = store.commit({ commitId: "second", puts: writes(1) });
    const turned = async () => expect((await inner.get("halves", "right"))?.doc["value"]).toBe(1);
    await vi.waitFor(turned, { timeout: 30_000 });
    expect(await answer()).toEqual(["1", "1"]);
    for (const tell of late.splice(0)) tell();
    await writing;
  });

  it("of units that write only while they find nothing, by list, page or count, one writes", () =>
    fc.assert(
      fc.asyncProperty(
        fc.scheduler(),
        fc.array(fc.constantFrom("list", "page", "count"), { minLength: 2, maxLength: 4 }),
        async (scheduler, ways) => {
          const inner = openMemoryStore({ collections: { halves } });
          const store = scheduled(inner, scheduler);
          const found: Readonly<Record<string, (read: Reader) => Promise<number>>> = {
            list: async (read) => (await read.list(halves, "all", [], { limit: 1 })).length,
            page: async (read) => (await read.page(halves, "all", [], { limit: 1, offset: 0 })).total,
            count: (read) => read.count(halves, "all", []),
          };
          const take = (way: string, at: number) =>
            transact(store, commitIds(`u${at}`), async (unit) => {
              if ((await found[way]?.(unit)) !== 0) return false;
              unit.insert(halves, `half-${at}`, { value: at, side: "left" });
              return true;
            });
          const won = await scheduler.waitFor(Promise.all(ways.map(take)));
          expect(won.filter(Boolean)).toHaveLength(1);
          expect(await inner.count("halves", "all", [])).toBe(1);
        },
      ),
    ));

  it("one read alone is not repeated, nor what was read of a store in which nobody wrote", async () => {
    const inner = openMemoryStore({ collections: { halves } });
    await inner.commit({ commitId: "first", puts: writes(0) });
    let reads = 0;
    const counting = (multiProcess: boolean) => ({
      ...inner,
      capabilities: { ...inner.capabilities, multiProcess },
      get: (...args: Parameters<DocumentStore["get"]>) => {
        reads += 1;
        return inner.get(...args);
      },
    });
    await transact(counting(true), commitIds("a"), (unit) => unit.get(halves, "left"));
    expect(reads).toBe(1);
    const { store, quiet } = quietStore(counting(false));
    await ofOneMoment({ store, quiet, read: reader(store) } as unknown as GatewayServices, ({ read }) => judge(read));
    expect(reads).toBe(3);
  });
});

describe("an audit log that nobody touched", () => {
  it("verifies, and has its checkpoint, however several processes seal it while events come", () =>
    fc.assert(
      fc.asyncProperty(
        fc.scheduler(),
        fc.array(fc.constantFrom("a", "b", "c"), { minLength: 1, maxLength: 8 }),
        async (scheduler, streams) => {
          const inner = openMemoryStore(gatewaySchema);
          const parts = { crypto: nodeCrypto, random: systemRandom };
          const vault = await openEmbeddedVault({
            ...parts,
            store: openMemoryStore({ collections: vaultCollections }),
            clock: settableClock(0),
            unseal: { kind: "key", key: new Uint8Array(32) },
          });
          const logs = [0, 1, 2].map((process) =>
            auditLog({
              ...parts,
              vault,
              instance: "i",
              log: openLogger({ level: "silent" }),
              store: scheduled(inner, scheduler),
              commitId: commitIds(`p${process}`),
            }),
          );
          const event = { id: "e", workspace: "", timestamp: "2026-01-01T00:00:00.000Z", event_type: "t", actor: "a" };
          const [first, second, third] = logs as [(typeof logs)[0], (typeof logs)[0], (typeof logs)[0]];
          // The key is there before the first event, as at the start of a gateway.
          await scheduler.waitFor(first.seal());
          const work = Promise.all([
            ...streams.map(
              scheduler.scheduleFunction(async (stream: string) => {
                await inner.commit({
                  commitId: systemRandom(8).toString(),
                  audit: [
                    { stream, event },
                    { stream, event },
                  ],
                });
              }),
            ),
            first.seal(),
            second.verify("a"),
            second.verifyAll(),
            third.checkpoint("b"),
            third.verify("b"),
            first.verify("c"),
          ] as const);
          const answers = (await scheduler.waitFor(work)).slice(streams.length);
          expect([answers[1], answers[2], answers[4], answers[5]]).toEqual([undefined, undefined, undefined, undefined]);
        },
      ),
      { numRuns: 25 },
    ));
});
