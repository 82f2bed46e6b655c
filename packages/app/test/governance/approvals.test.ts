import { afterEach, describe, expect, test } from "vitest";
import { type Rig, servers, startRig } from "./rig.ts";

const HOUR = 3_600_000;
const request = {
  operation_type: "EXPORT",
  source_resources: ["crm.customers"],
  destination_resource: "s3://warehouse",
  user_context: { user_id: "ada", role: "analyst", department: "sales" },
};

describe.each(servers)("time-limited approvals on %s", (_, serve) => {
  let rig: Rig;
  afterEach(() => rig.stop());
  const start = async () => {
    rig = await startRig(serve);
    await rig.call("writer", "PUT", "/api/v1/resources/crm.customers", { tier: "PROPRIETARY" });
    await rig.call("writer", "PUT", `/api/v1/resources/${encodeURIComponent("s3://warehouse")}`, {
      accepts_tier: "CONFIDENTIAL",
    });
    const made = await rig.call("admin", "POST", "/api/v1/api-keys", { name: "owner", scopes: ["approve"] });
    return { key: made.body.api_key as string };
  };
  const evaluate = (more = {}) => rig.call("judge", "POST", "/api/v1/evaluate", { ...request, ...more });

  test("a denial says what leave would help; asked for and given by somebody else it opens exactly that operation until it ends", async () => {
    const owner = await start();
    const denied = await evaluate();
    expect(denied.body.allowed).toBe(false);
    const { path, request: wanted } = denied.body.approval_request;
    const asked = await rig.call("judge", "POST", path, { request: wanted, reason: "quarterly report", duration_seconds: 7200 });
    expect([asked.status, asked.body.status, asked.body.requested_by]).toEqual([201, "pending", "ada"]);
    const approval_id = asked.body.id as string;
    expect((await evaluate({ approval_id })).body.allowed).toBe(false);

    const decide = (who: Parameters<Rig["call"]>[0], body: object) =>
      rig.call(who, "POST", `/api/v1/approvals/${approval_id}/decision`, body);
    expect((await decide("judge", { decision: "approve", user_id: "bob" })).status).toBe(403);
    expect((await decide(owner, { decision: "approve", user_id: "ada" })).status).toBe(403);
    expect((await decide("other", { decision: "approve", user_id: "bob" })).status).toBe(404);
    const given = await decide(owner, { decision: "approve", user_id: "bob", duration_seconds: 3600 });
    expect(given.body).toMatchObject({ status: "approved", decided_by: "bob", expires_at: "2026-03-01T13:00:00.000Z" });
    expect((await decide(owner, { decision: "reject", user_id: "bob" })).status).toBe(409);

    const again = await evaluate();
    const twin = again.body.alternative_requests.find(
      (a: { request: { approval_id?: string } }) => a.request.approval_id === approval_id,
    );
    expect(again.body.alternatives).toContain(twin.description);
    const allowed = await rig.call("judge", "POST", "/api/v1/evaluate", twin.request);
    expect(allowed.body.allowed).toBe(true);
    expect(allowed.body.obligations).toContainEqual({
      type: "expiry",
      id: "approval-ends",
      properties: { until: "2026-03-01T13:00:00.000Z" },
    });
    for (const other of [
      { operation_type: "SHARE" },
      { source_resources: ["crm.customers", "hr.people"] },
      { destination_resource: "s3://elsewhere" },
      { user_context: { ...request.user_context, user_id: "eve" } },
      { purpose: "resale" },
    ])
      expect((await evaluate({ approval_id, ...other })).body.allowed).toBe(false);
    rig.clock.advance(HOUR - 1);
    expect((await evaluate({ approval_id })).body.allowed).toBe(true);
    rig.clock.advance(1);
    const late = await evaluate({ approval_id });
    expect([late.body.allowed, late.body.reasoning]).toEqual([false, expect.stringContaining("the approval is unknown, over")]);
    expect((await rig.call("judge", "GET", `/api/v1/approvals/${approval_id}`)).body.status).toBe("expired");

    const { records } = (
      await rig.call("reader", "POST", "/api/v1/audit/query", {
        operation_types: ["APPROVAL_REQUEST", "APPROVAL_GIVE", "EXPORT"],
      })
    ).body;
    const told = records.map((r: { operation_type: string; user_id: string; allowed: boolean; approval_id?: string }) => [
      r.operation_type,
      r.user_id,
      r.approval_id,
    ]);
    expect(told).toContainEqual(["APPROVAL_REQUEST", "ada", undefined]);
    expect(told).toContainEqual(["APPROVAL_GIVE", "bob", undefined]);
    expect(
      records.find((r: { allowed: boolean; operation_type: string }) => r.allowed && r.operation_type === "EXPORT"),
    ).toMatchObject({ approval_id });
  });

  test("a leave taken back ends at once, one refused or not decided never opens anything", async () => {
    const owner = await start();
    const ask = async () =>
      (await rig.call("judge", "POST", "/api/v1/approvals", { request, reason: "report" })).body.id as string;
    const decide = (id: string, decision: string) =>
      rig.call(owner, "POST", `/api/v1/approvals/${id}/decision`, { decision, user_id: "bob" });
    const revoked = await ask();
    await decide(revoked, "approve");
    expect((await evaluate({ approval_id: revoked })).body.allowed).toBe(true);
    expect((await rig.call("judge", "DELETE", `/api/v1/approvals/${revoked}`)).status).toBe(403);
    expect((await rig.call(owner, "DELETE", `/api/v1/approvals/${revoked}`)).status).toBe(204);
    const refused = await ask();
    await decide(refused, "reject");
    const forgotten = await ask();
    rig.clock.advance(8 * 24 * HOUR);
    expect((await decide(forgotten, "approve")).status).toBe(409);
    for (const approval_id of [revoked, refused, forgotten]) expect((await evaluate({ approval_id })).body.allowed).toBe(false);
    const listed = await rig.call(owner, "GET", "/api/v1/approvals");
    expect(listed.body.total).toBe(3);
    expect(listed.body.approvals.map((a: { status: string }) => a.status).sort()).toEqual(["expired", "rejected", "revoked"]);
  });

  test("nobody decides on their own request under a second key, however it came about", async () => {
    await start();
    const mint = async (by: Parameters<Rig["call"]>[0], more: object = {}) => {
      const made = await rig.call(by, "POST", "/api/v1/api-keys", { name: "n", scopes: ["admin"], ...more });
      expect(made.status).toBe(201);
      return { id: made.body.id as string, key: made.body.api_key as string };
    };
    const ask = async (by: Parameters<Rig["call"]>[0]) =>
      (await rig.call(by, "POST", "/api/v1/approvals", { request, reason: "report" })).body.id as string;
    const decide = async (by: Parameters<Rig["call"]>[0], id: string, user_id = "bob") =>
      (await rig.call(by, "POST", `/api/v1/approvals/${id}/decision`, { decision: "approve", user_id })).status;
    const asked = await ask("admin");
    const second = await mint("admin");
    const third = await mint(second);
    expect(await decide(second, asked)).toBe(403);
    expect(await decide(third, asked)).toBe(403);
    // Asked under the second key, decided under the first, or under another from the same hand.
    const below = await ask(third);
    for (const by of ["admin", second, await mint("admin"), await mint(third)] as const)
      expect(await decide(by, below)).toBe(403);
    // Whoever rotates a key is shown its secret, and rotating it by itself makes nobody forget.
    const theirs = await mint("admin", { user_id: "bob" });
    const mine = await mint("admin", { user_id: "ada" });
    const elsewhere = await ask(mine);
    expect(await decide(theirs, elsewhere, "carl")).toBe(403);
    const rotated = await rig.call(mine, "POST", `/api/v1/api-keys/${theirs.id}/rotate`);
    const washed = await rig.call({ key: rotated.body.api_key }, "POST", `/api/v1/api-keys/${theirs.id}/rotate`);
    expect(await decide({ key: washed.body.api_key }, elsewhere)).toBe(403);
    // One that was made for somebody else is somebody else's.
    const bobs = await mint("admin", { user_id: "bob" });
    expect((await rig.call(bobs, "GET", "/api/v1/api-keys")).body.api_keys.map((k: { user_id: string }) => k.user_id)).toContain(
      "bob",
    );
    expect(await decide(bobs, elsewhere)).toBe(200);
  });

  test("no leave lets RESTRICTED data out", async () => {
    const owner = await start();
    await rig.call("writer", "PUT", "/api/v1/resources/crm.customers", { tier: "RESTRICTED" });
    expect((await evaluate()).body.approval_request).toBeUndefined();
    const { body } = await rig.call("judge", "POST", "/api/v1/approvals", { request, reason: "try" });
    await rig.call(owner, "POST", `/api/v1/approvals/${body.id}/decision`, { decision: "approve", user_id: "bob" });
    expect((await evaluate({ approval_id: body.id })).body.allowed).toBe(false);
  });
});
