import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { register } from "./registered.ts";
import { openRig, type Rig } from "./rig.ts";
import { makeCrk, signOperation } from "./sign.ts";

const statuses = (answers: readonly { status: number }[]): number[] => answers.map((answer) => answer.status).sort();
const times = <T>(count: number, work: (i: number) => Promise<T>): Promise<T[]> =>
  Promise.all(Array.from({ length: count }, (_, i) => work(i)));

describe("requests at the same time", () => {
  let rig: Rig;
  beforeAll(async () => {
    rig = await openRig();
  });
  afterAll(() => rig.close());

  it("rotations each add one key version, and none is lost", async () => {
    const acme = rig.admin("acme");
    const { body } = await acme("POST", "/api/v1/workspaces", { name: "busy" });
    const answers = await times(8, () => acme("POST", `/api/v1/workspaces/${body.id}/rotate-dek`));
    const done = answers.filter((answer) => answer.status === 204).length;
    expect(done).toBeGreaterThan(0);
    expect(answers.every((answer) => answer.status === 204 || answer.status === 409)).toBe(true);
    const after = (await acme("GET", `/api/v1/workspaces/${body.id}`)).body;
    expect([after.dek_version, after.revision]).toEqual([1 + done, 1 + done]);
    expect((await acme("GET", `/api/v1/audit?workspace=${body.id}&event_type=key.rotate`)).body.total).toBe(done);
  });

  it("of two of the same kind exactly one wins: names, root keys, invitations, admissions, signatures, tokens", async () => {
    const acme = rig.admin("acme");
    expect(statuses(await times(4, () => acme("POST", "/api/v1/workspaces", { name: "only one" })))).toEqual([
      201, 409, 409, 409,
    ]);
    expect(statuses(await times(3, () => acme("POST", "/api/v1/crk/generate", { total_shares: 3, threshold: 2 })))).toEqual([
      200, 409, 409,
    ]);
    const { body } = await acme("POST", "/api/v1/workspaces", { name: "shared" });
    const path = `/api/v1/workspaces/${body.id}`;
    expect(statuses(await times(3, () => acme("POST", `${path}/invite`, { org_id: "globex" })))).toEqual([201, 409, 409]);
    const grant = { identity_id: await register(acme, "bob"), identity_type: "user" };
    expect(statuses(await times(3, () => acme("POST", `${path}/admissions`, grant)))).toEqual([201, 409, 409]);
    const globex = rig.admin("globex");
    const accepted = statuses(await times(3, () => globex("POST", `${path}/accept-invitation`)));
    expect([accepted[0], accepted.filter((status) => status === 204).length]).toEqual([204, 1]);
    expect((await globex("GET", path)).body.participants).toHaveLength(2);
  });

  it("a signature allows one act, however many bring it at once", async () => {
    const owner = rig.bearer({ sub: "root", org: "umbrella", roles: ["super_admin"] });
    const crk = await makeCrk(owner);
    const { id } = (await owner("POST", "/api/v1/workspaces", { name: "signed for" })).body;
    const path = `/api/v1/workspaces/${id}/extend`;
    const body = { expires_at: "2080-01-01T00:00:00.000Z" };
    const signature = await signOperation(owner, crk, "workspace.extend", id, body);
    const answers = await times(4, () => owner("POST", path, { ...body, signature }));
    expect(statuses(answers)).toEqual([204, 409, 409, 409]);
    const refused = answers.filter(({ status }) => status === 409).map((answer) => answer.body.error.code);
    expect(refused).toEqual(refused.map(() => "SIGNATURE_REPLAYED"));
  });

  it("an idempotency key makes a repeated creation one creation", async () => {
    const acme = rig.admin("acme");
    const headers = { "idempotency-key": "create-1" };
    const first = await acme("POST", "/api/v1/workspaces", { name: "once" }, headers);
    const second = await acme("POST", "/api/v1/workspaces", { name: "once" }, headers);
    expect([first.status, second.status, second.body.id]).toEqual([201, 201, first.body.id]);
    const other = await acme("POST", "/api/v1/workspaces", { name: "twice" }, headers);
    expect([other.status, other.body.error.code]).toEqual([422, "IDEMPOTENCY_MISMATCH"]);
  });

  it("health names every component and tells nobody why", async () => {
    const health = await rig.anonymous("GET", "/health");
    expect(health.body).toMatchObject({ status: "healthy", version: "test" });
    expect(Object.keys(health.body.components).sort()).toEqual([
      "audit_log",
      "audit_witnesses",
      "database",
      "policy_engine",
      "vault",
      "workers",
    ]);
    expect((await rig.anonymous("GET", "/ready")).body).toEqual({ status: "ready" });
    expect((await rig.anonymous("GET", "/live")).body).toEqual({ status: "alive" });
    expect((await rig.anonymous("GET", "/api/v1/sso-config")).body).toEqual({ issuer_url: "", client_id: "" });
    expect((await rig.anonymous("GET", "/metrics")).text).toContain("gateway_audit_events_total");
    expect((await rig.anonymous("GET", "/api/v1/nothing")).body.error.code).toBe("NOT_FOUND");
    expect((await rig.anonymous("PATCH", "/api/v1/workspaces")).status).toBe(405);
  });
});
