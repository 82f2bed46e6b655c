import { gatewayContract } from "@seneschal/contract/gateway";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { type Entities, entitiesOf } from "./entities.ts";
import { openWatchedPair, type Side } from "./federated.ts";
import type { Answer, Caller } from "./rig.ts";

interface AnyRoute {
  readonly method: string;
  readonly path: string;
  readonly entity?: string;
  readonly reply?: unknown;
}
const routes = Object.entries(gatewayContract as Readonly<Record<string, AnyRoute>>).filter(
  ([, route]) => route.entity !== undefined,
);
const reads = new Map(routes.filter(([, { method }]) => method === "GET").map(([, route]) => [route.entity, route]));
const changes = routes.filter(([, { method }]) => method !== "GET");

describe("entity tags", () => {
  let pair: Awaited<ReturnType<typeof openWatchedPair>>;
  let acme: Side;
  let entities: Entities;
  const call: Caller = (...request) => entities.caller()(...request);
  beforeAll(async () => {
    pair = await openWatchedPair();
    acme = pair.acme;
    entities = entitiesOf(acme);
  });
  afterAll(() => pair.close());

  const fill = (path: string, params: Record<string, string>): string =>
    path.replace(/:([a-z_]+)/g, (_, key: string) => params[key] ?? "");
  let latest = 0;
  const head = async (): Promise<number> => {
    latest = (await acme.rig.store.changes(latest, 1_000_000)).at(-1)?.seq ?? latest;
    return latest;
  };
  const codeOf = (answer: Answer): string | undefined => answer.body?.error?.code;

  it("every entity is read by one route", () => {
    expect([...reads.keys()].sort()).toEqual(Object.keys(entities.makers).sort());
  });

  // The federation ends with its revocation.
  const inOrder = [...changes].sort(([a], [b]) => Number(a === "revokeFederation") - Number(b === "revokeFederation"));
  it.each(inOrder)("%s: another tag changes nothing, the present tag lets it through to its own rules", async (id, route) => {
    entities.begin();
    const params = await (entities.makers[route.entity ?? ""] as () => Promise<Record<string, string>>)();
    const read = reads.get(route.entity) as AnyRoute;
    const before = await call("GET", fill(read.path, params));
    const tag = before.headers.get("etag") ?? "";
    expect(tag, before.text).toMatch(/^"[A-Za-z0-9_-]{27}"$/);
    const same = await call("GET", fill(read.path, params), undefined, { "if-none-match": tag });
    expect([same.status, same.text]).toEqual([304, ""]);

    const body = await entities.bodies[id]?.(params);
    const seen = await head();
    const stale = await call(route.method, fill(route.path, params), body, { "if-match": '"stale"' });
    expect([stale.status, codeOf(stale)], stale.text).toEqual([409, "REVISION_CONFLICT"]);
    expect(stale.body.error.details).toEqual({ etag: tag });
    expect(await head()).toBe(seen);
    expect((await call("GET", fill(read.path, params))).headers.get("etag")).toBe(tag);

    const passed = await call(route.method, fill(route.path, params), body, { "if-match": `"other", ${tag}` });
    expect(codeOf(passed), passed.text).not.toBe("REVISION_CONFLICT");
    const after = await call("GET", fill(read.path, params));
    if (passed.status < 300 && after.status === 200) expect(after.headers.get("etag"), id).not.toBe(tag);
    if (route.reply === read.reply && passed.status === 200) {
      expect(passed.headers.get("etag")).toBe(after.headers.get("etag"));
    }
  });

  it("a certificate's tag stays while it does, and changes with its revocation, the one change there is", async () => {
    entities.begin();
    const { serial = "" } = await (entities.makers["certificate"] as () => Promise<Record<string, string>>)();
    const path = `/api/v1/certificates/${serial}`;
    const tag = (await call("GET", path)).headers.get("etag") ?? "";
    expect((await call("GET", path, undefined, { "if-none-match": tag })).status).toBe(304);
    for (const _ of ["revoked", "again"])
      expect((await call("POST", "/api/v1/certificates/revoke", { serial_number: serial })).status).toBe(204);
    const after = await call("GET", path, undefined, { "if-none-match": tag });
    expect([after.status, after.body.status]).toEqual([200, "revoked"]);
  });

  it("the answer that shows an emergency token once has no tag; the next one has, and ends the access", async () => {
    const requester = acme.rig.admin("acme", "operations_admin");
    const id = await entities.create("emergency-access/request", { reason: entities.name() }, requester);
    const path = `/api/v1/emergency-access/${id}`;
    const body = await entities.signedBody("emergency.verify", id, {});
    expect((await acme.rig.admin("acme")("POST", `${path}/verify`, body)).status).toBe(204);
    const shown = await requester("GET", path, undefined, { "if-none-match": "*" });
    expect([shown.status, shown.headers.get("etag")]).toEqual([200, null]);
    expect(shown.body.token).toMatch(/^sene_/);
    const again = await requester("GET", path);
    expect(again.body.token).toBeUndefined();
    const ended = await requester("POST", `${path}/complete`, {}, { "if-match": again.headers.get("etag") ?? "" });
    expect([ended.status, ended.body.status]).toEqual([200, "completed"]);
  });

  it("of many who change what they all read, one wins", async () => {
    entities.begin();
    const id = await entities.create("workspaces", { name: entities.name() });
    const path = `/api/v1/workspaces/${id}`;
    const tag = (await call("GET", path)).headers.get("etag") ?? "";
    const answers = await Promise.all(
      Array.from({ length: 6 }, (_, i) => call("PUT", path, { purpose: `writer ${i}` }, { "if-match": tag })),
    );
    expect(answers.map(({ status }) => status).sort()).toEqual([200, 409, 409, 409, 409, 409]);
    const lost = answers.filter(({ status }) => status === 409);
    expect(new Set(lost.map(codeOf))).toEqual(new Set(["REVISION_CONFLICT"]));
    expect((await call("GET", path)).body.revision).toBe(2);
  });
});
