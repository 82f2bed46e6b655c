/** Laws over every route of a service's contract: a new one is held to them without being named anywhere. */
import type { Contract, Route } from "@seneschal/contract";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import * as z from "zod";
import { sampleOf, wholeSampleOf } from "./sample-of.ts";

// biome-ignore lint/suspicious/noExplicitAny: whatever a service answers
type Told = any;

/** What a route is asked with: something that is there to act on. */
export interface Situation {
  /** Who asks. */
  readonly by?: string;
  /** Parameters of the path. */
  readonly path?: Readonly<Record<string, string>>;
  /** Members that refer to something, or have a form that no schema says. All others are made by the schema, each another than its default. */
  readonly body?: Readonly<Record<string, unknown>>;
  /** What is to be read afterwards, where no `GET` of the contract is of the same path, or of an id below it. */
  readonly read?: (answer: Told) => Promise<Told>;
}

/** A service that runs. */
export interface Subject {
  call(by: string | undefined, method: string, path: string, body?: unknown): Promise<{ status: number; body: Told }>;
  /** How many events its audit log has. */
  audited(): Promise<number>;
  /** Throws where a request that reads has written: the rig watches it. */
  close(): Promise<void>;
  /** By operation. */
  readonly situations: Readonly<Record<string, () => Promise<Situation>>>;
}

export interface RouteLaws {
  readonly contract: Contract;
  readonly open: () => Promise<Subject>;
  /** Who asks, where a situation does not say. */
  readonly by: string;
  /** Members of requests that are told otherwise, by operation: where, of the answer and what is read; or why nowhere. */
  readonly otherwise: Readonly<
    Record<string, Readonly<Record<string, string | ((told: { answer: Told; read: Told }) => unknown)>>>
  >;
  /** Routes that change something and say nothing of it, and why. */
  readonly unsaid: Readonly<Record<string, string>>;
  /** Routes that are followed elsewhere, and where. */
  readonly elsewhere: Readonly<Record<string, string>>;
  /** Parameters of paths and queries that reads are asked with. */
  readonly aims?: (subject: Subject) => Promise<Readonly<Record<string, string>>>;
  /** Reads that never end. */
  readonly endless?: readonly string[];
}

/** The members of a body or a reply; undefined where it is no object of known members. */
function membersOf(schema: unknown): readonly string[] | undefined {
  if (schema instanceof z.ZodObject) return Object.keys(schema.shape);
  if (schema instanceof z.ZodPipe) return membersOf(schema.in);
  return innerOf(schema) === undefined ? undefined : membersOf(innerOf(schema));
}

function innerOf(schema: unknown): unknown {
  return (schema as { readonly def?: { readonly innerType?: unknown } } | undefined)?.def?.innerType;
}

const isRead = ({ method, action = "" }: Route): boolean => method === "GET" || action.endsWith(":read");
const same = (value: unknown): unknown =>
  typeof value === "string" && /^\d{4}-\d\d-\d\dT/.test(value) ? new Date(value).toISOString() : value;
const filled = (path: string, params: Readonly<Record<string, string>>): string =>
  path.replace(/:([a-z_]+)/g, (_, name: string) => encodeURIComponent(params[name] ?? `no-${name.replaceAll("_", "-")}`));

/** States the laws for a service. */
export function holdRouteLaws({ contract, open, by, otherwise, unsaid, elsewhere, aims, endless = [] }: RouteLaws): void {
  const routes = Object.entries(contract);
  const changing = routes.filter(([id, route]) => !isRead(route) && route.safe !== true && elsewhere[id] === undefined);

  describe("every route that changes something", () => {
    let subject: Subject;
    beforeAll(async () => {
      subject = await open();
    });
    // A request that changed something without an audit event in the same commit is told here.
    afterAll(() => subject.close());

    it.each(changing)(
      "%s: what it is given comes back and stands in what is read afterwards, and the audit log tells of it",
      async (id, route) => {
        const situation = (await subject.situations[id]?.()) ?? {};
        const asks = situation.by ?? by;
        const sample = route.body === undefined ? undefined : (wholeSampleOf(route.body) as object);
        const body: Told = sample === undefined ? undefined : { ...sample, ...situation.body };
        const path = filled(route.path, situation.path ?? {});
        const before = await subject.audited();
        const { status, body: answer } = await subject.call(asks, route.method, path, body);
        expect(status, `${id} ${JSON.stringify(answer)}: give it something to act on among the situations`).toBeLessThan(300);
        const after = await subject.audited();
        if (unsaid[id] === undefined) expect(after, `${id} leaves no audit event`).toBeGreaterThan(before);
        else expect(after, `${id} is not silent`).toBe(before);

        const members = route.body === undefined ? [] : membersOf(route.body);
        const exempt = otherwise[id] ?? {};
        expect(
          Object.keys(exempt).filter((name) => name !== "*" && !members?.includes(name)),
          `${id} has no such members`,
        ).toEqual([]);
        if (members === undefined) expect(exempt["*"], `${id}: its body is no object of known members`).toBeDefined();
        if (exempt["*"] !== undefined || members === undefined || members.length === 0) return;

        const of = (at: string) => routes.find(([, { method, path: own }]) => method === "GET" && own === at)?.[1];
        const own = of(route.path);
        const one = membersOf(own?.reply) === undefined ? undefined : own;
        const below = routes.find(([, r]) => r.method === "GET" && new RegExp(`^${route.path}/:[a-z_]+$`).test(r.path))?.[1];
        const get = async (at: string) => (await subject.call(by, "GET", at)).body;
        const read =
          situation.read !== undefined
            ? await situation.read(answer)
            : below !== undefined && answer?.id !== undefined
              ? await get(`${path}/${encodeURIComponent(answer.id)}`)
              : one !== undefined
                ? await get(path)
                : undefined;
        for (const name of members) {
          const rule = exempt[name];
          if (typeof rule === "string") continue;
          if (rule !== undefined) {
            expect([id, name, same(rule({ answer, read }))]).toEqual([id, name, same(body[name])]);
            continue;
          }
          const places = [answer, read].filter((place) => place !== null && typeof place === "object" && name in place);
          expect(places.length, `${id}: nothing tells ${name}. ${JSON.stringify({ answer, read })}`).toBeGreaterThan(0);
          for (const place of places) expect([id, name, same(place[name])]).toEqual([id, name, same(body[name])]);
        }
      },
    );

    it("is named as an exception only where there is one", () => {
      const named = [...Object.keys(otherwise), ...Object.keys(unsaid), ...Object.keys(subject.situations)];
      const known = changing.map(([id]) => id);
      expect(named.filter((id) => !known.includes(id))).toEqual([]);
      expect(Object.keys(elsewhere).filter((id) => contract[id] === undefined)).toEqual([]);
    });
  });

  describe("every route that reads", () => {
    it("answers, and changes nothing", async () => {
      const subject = await open();
      try {
        const params = (await aims?.(subject)) ?? {};
        const before = await subject.audited();
        const answered: string[] = [];
        const reads = routes.filter(([id, route]) => isRead(route) && !endless.includes(id));
        for (const [id, route] of reads) {
          const query = new URLSearchParams(
            Object.keys(route.query?.shape ?? {}).flatMap((name) =>
              params[`?${name}`] === undefined ? [] : [[name, params[`?${name}`]!]],
            ),
          );
          const path = `${filled(route.path, params)}${query.size > 0 ? `?${query}` : ""}`;
          const body = route.body === undefined || route.method === "GET" ? undefined : sampleOf(route.body);
          const { status, body: answer } = await subject.call(by, route.method, path, body);
          if (status < 300) answered.push(id);
          else expect(status, `${id} ${JSON.stringify(answer)}`).toBeLessThan(500);
        }
        expect(await subject.audited()).toBe(before);
        expect(answered.length, answered.join(" ")).toBeGreaterThan(reads.length * 0.6);
      } finally {
        await subject.close();
      }
    });
  });
}
