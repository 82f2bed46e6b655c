import { secretFields } from "@seneschal/contract";
import { gatewayContract } from "@seneschal/contract/gateway";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import * as z from "zod";
import { sampleOf } from "../platform/sample-of.ts";
import { guardedRoutes } from "./guarded-routes.ts";
import { type Caller, openRig, type Rig } from "./rig.ts";
import { makeTargets, pathOf, type Targets } from "./samples.ts";

interface AnyRoute {
  readonly method: string;
  readonly path: string;
  readonly query?: z.ZodObject;
  readonly reply?: z.ZodType;
  readonly produces?: unknown;
  readonly streamed?: boolean;
  readonly safe?: boolean;
  readonly body?: z.ZodType;
}
const routes = Object.entries(gatewayContract as Readonly<Record<string, AnyRoute>>);

/** The list that a reply holds, by what the contract says of it: an array beside its count. */
function pluralOf({ method, reply }: AnyRoute): string | undefined {
  if (method !== "GET" || !(reply instanceof z.ZodObject) || reply.shape["count"] === undefined) return undefined;
  return Object.entries(reply.shape).find(([, field]) => field instanceof z.ZodArray)?.[0];
}
const lists = routes.flatMap(([id, route]) => {
  const plural = pluralOf(route);
  return plural === undefined ? [] : [{ id, route, plural }];
});
const posts = guardedRoutes.filter(([, route]) => {
  const { method, produces, streamed, safe } = route as AnyRoute;
  return method === "POST" && produces === undefined && streamed !== true && safe !== true;
});

describe("every route of the contract keeps the conventions", () => {
  let rig: Rig;
  let targets: Targets;
  let acme: Caller;
  beforeAll(async () => {
    rig = await openRig({ watched: true });
    targets = await makeTargets(rig);
    acme = rig.bearer({ sub: "someone", org: "acme", roles: ["super_admin"] });
  });
  afterAll(() => rig.close());

  it("whatever is made has what was given for it", async () => {
    const made: string[] = [];
    for (const [id, route] of guardedRoutes) {
      const body = targets.bodies[id];
      if ((route as AnyRoute).method !== "POST" || body === undefined) continue;
      const answer = await acme("POST", pathOf(route.path, targets), body);
      if (answer.status !== 201) continue;
      const shown = Object.keys(body).filter((field) => answer.body[field] !== undefined);
      if (shown.length > 0) made.push(id);
      for (const field of shown) expect([id, field, answer.body[field]]).toEqual([id, field, body[field]]);
    }
    expect(made.length).toBeGreaterThan(5);
  });

  it("whatever answers an array of things to GET is a list with its count", () => {
    expect(lists.length).toBeGreaterThan(20);
    const arrays = routes.filter(([, { method, reply }]) => {
      const shape = method === "GET" && reply instanceof z.ZodObject ? reply.shape : {};
      const things = Object.values(shape).filter((field) => field instanceof z.ZodArray && field.element instanceof z.ZodObject);
      return things.length > 0 && shape["id"] === undefined;
    });
    expect(arrays.map(([id]) => id).filter((id) => !lists.some((list) => list.id === id))).toEqual([]);
  });

  it.each(lists)(
    "$id pages by limit and offset, and refuses what is no page, never cutting silently",
    async ({ route, plural }) => {
      const path = pathOf(route.path, targets);
      const ask = (query: string) => acme("GET", `${path}?${query}`);
      const all = await ask("limit=1000");
      if (all.status === 404) return;
      expect(all.status, all.text).toBe(200);
      expect(all.body.count).toBe(all.body[plural].length);
      const one = await ask("limit=1");
      expect(one.body[plural].length).toBeLessThanOrEqual(1);
      if (all.body.total !== undefined) expect(one.body.total).toBeGreaterThanOrEqual(one.body.count);
      expect((await ask("limit=1&offset=100000")).body[plural]).toEqual([]);
      for (const [field, query] of [
        ["limit", "limit=0"],
        ["limit", "limit=1001"],
        ["limit", "limit=ten"],
        ["offset", "offset=-1"],
        ["nonsense", "nonsense=1"],
      ]) {
        const { status, text } = await ask(query ?? "");
        expect([query, status], text).toEqual([query, 400]);
        expect(text).toContain(field);
      }
    },
  );

  it.each(posts)(
    "%s answers an Idempotency-Key the same twice, doing its work once, and refuses it for another request",
    async (id, route) => {
      const key = { "idempotency-key": `once-${id}` };
      const body = JSON.stringify(route.body === undefined ? {} : (targets.bodies[id] ?? sampleOf(route.body)));
      const call = (text: string) =>
        acme(route.method, pathOf(route.path, targets), route.body === undefined ? undefined : text, key);
      const known = await rig.store.count("idempotency", "expires", []);
      const first = await call(body);
      if (first.status >= 500) expect(first.status, first.text).toBe(503);
      const head = (await rig.store.changes(0, 1_000_000)).at(-1)?.seq ?? 0;
      const second = await call(body);
      // What authorisation refuses is refused anew: it never reached the work.
      if (first.status < 300 && secretFields((route as AnyRoute).reply).length > 0)
        expect([second.status, second.body.error.code]).toEqual([409, "REPLY_NOT_KEPT"]);
      else expect([second.status, second.text]).toEqual([first.status, first.text]);
      const written = (await rig.store.changes(head, 1000)).map(({ coll }) => coll);
      expect(written.filter((coll) => coll !== "audit")).toEqual([]);
      const reached = (await rig.store.count("idempotency", "expires", [])) > known;
      if (route.body === undefined || !reached || first.status === 400 || first.status === 403) return;
      const other = await call(` ${body}`);
      expect([other.status, other.body.error.code], other.text).toEqual([422, "IDEMPOTENCY_MISMATCH"]);
    },
  );
});
