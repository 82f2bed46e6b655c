import { describe, expect, test } from "vitest";
import * as z from "zod";
import { contract, dispatcher, endpoints, errorTable, type Route } from "../src/index.ts";
import { sampleContract, sampleErrors, unwatched } from "../src/testing/index.ts";

const base: Route = { method: "POST", path: "/a", summary: "s", tag: "t", auth: "public", status: 204 };
const plain = z.object({ a: z.string() });

describe("a contract refuses what could not be served safely", () => {
  test.each<[string, Partial<Route>, RegExp]>([
    ["a body that drops unknown fields", { body: plain }, /body would drop unknown fields/],
    ["a nested one", { body: z.strictObject({ inner: z.array(plain).optional() }) }, /body\.inner\[\] would drop/],
    ["one in a union", { body: z.union([z.strictObject({}), plain]) }, /body would drop/],
    ["one behind a transform", { body: plain.transform((v) => v) }, /body would drop/],
    ["one in a record", { body: z.record(z.string(), plain) }, /body\.\* would drop/],
    ["a query that does", { query: plain }, /query would drop/],
    ["a guarded route without an action", { auth: "principal" }, /needs an action/],
    ["a parameter without schema", { path: "/a/:id" }, /differ from params/],
    ["a schema without parameter", { params: z.strictObject({ id: z.string() }) }, /differ from params/],
    ["a partial parameter", { path: "/a/x-:id" }, /malformed/],
    ["a path without slash", { path: "a" }, /malformed/],
    ["two request bodies", { consumes: "text/csv", body: z.strictObject({}) }, /consumes excludes/],
    ["an entity that nothing reads", { entity: "widget" }, /entity widget is read by 0 routes/],
    ["a stream of anything", { streamed: true }, /a streamed reply needs its schema/],
    ["two replies", { produces: "text/csv", reply: z.string() }, /produces excludes/],
  ])("%s", (_, part, message) => {
    expect(() => contract({ one: { ...base, ...part } })).toThrow(TypeError);
    expect(() => contract({ one: { ...base, ...part } })).toThrow(message);
  });

  test("a change that does not name the entity it changes", () => {
    const id = z.strictObject({ id: z.string() });
    const get: Route = { ...base, method: "GET", path: "/a/:id", params: id, entity: "a", reply: z.string() };
    expect(() => contract({ get, change: { ...base, entity: "a" } })).toThrow("route change: its path does not name the a: [id]");
    expect(() => contract({ get, change: { ...base, path: "/a/:id/turn", params: id, entity: "a" } })).not.toThrow();
  });

  test("two routes for one method and pattern", () => {
    const id = z.strictObject({ id: z.string() });
    const key = z.strictObject({ key: z.string() });
    const routes = { a: { ...base, path: "/a/:id", params: id }, b: { ...base, path: "/a/:key", params: key } };
    expect(() => contract(routes)).toThrow("route b: clashes with a");
  });

  test("an object that is open on purpose passes; a recursive schema ends", () => {
    interface Tree {
      readonly children: readonly Tree[];
    }
    const tree: z.ZodType<Tree> = z.lazy(() => z.strictObject({ children: z.array(tree) }));
    expect(() =>
      contract({ a: { ...base, body: z.looseObject({ a: z.string() }) }, b: { ...base, path: "/b", body: tree } }),
    ).not.toThrow();
  });
});

describe("binding", () => {
  const hooks = { ...unwatched, errors: sampleErrors, now: () => 0, requestId: () => "r" };

  test("a guarded route without authentication and authorisation is not served at all", () => {
    const routes = contract({ a: { ...base, auth: "principal", action: "a:b" } });
    expect(() => endpoints(routes, { a: () => {} }, undefined, hooks)).toThrow("authenticates or authorises nobody");
    const half = { ...hooks, authenticate: () => undefined };
    expect(() => endpoints(routes, { a: () => {} }, undefined, half)).toThrow("authenticates or authorises nobody");
  });

  test("a route without a handler is not served", () => {
    expect(() => endpoints(contract({ a: base }), {} as never, undefined, hooks)).toThrow("route a has no handler");
  });

  test("two contracts may not serve the same path", () => {
    const list = endpoints(contract({ a: base }), { a: () => {} }, undefined, hooks);
    expect(() => dispatcher([...list, ...list], hooks)).toThrow("two endpoints serve POST /a");
  });

  test("every situation of the dispatcher has a code in the table", () => {
    expect(() => errorTable({}, { not_found: "NOPE" } as never)).toThrow("not_found is named NOPE, which has no status");
    expect(Object.keys(sampleContract).length).toBeGreaterThan(10);
  });
});
