import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { type Answer, type Caller, openRig, type Rig } from "./rig.ts";
import { type RootKey, rootKey } from "./root-key.ts";

/** Others call while a dear request is under way: how many were answered before it was, and what it came to. */
async function beside(rig: Rig, dear: Promise<Answer>): Promise<{ readonly answered: number; readonly answer: Answer }> {
  let over = false;
  const ending = dear.finally(() => {
    over = true;
  });
  let answered = 0;
  for (;;) {
    const live = await rig.anonymous("GET", "/live");
    if (over) break;
    expect(live.status).toBe(200);
    answered++;
  }
  return { answered, answer: await ending };
}

describe("no request stops the others", () => {
  let rig: Rig;
  let acme: Caller;
  let globex: Caller;
  let key: RootKey;
  beforeAll(async () => {
    rig = await openRig({ organizations: ["acme", "globex"] });
    acme = rig.admin("acme");
    globex = rig.admin("globex");
    key = await rootKey(globex);
    await rig.anonymous("GET", "/live");
  });
  afterAll(() => rig.close());

  const done = async (pool: string): Promise<number> => {
    const { text } = await rig.anonymous("GET", "/metrics");
    return Number(new RegExp(`^gateway_workers_tasks_total\\{pool="${pool}"\\} (\\d+)$`, "m").exec(text)?.[1]);
  };

  test("shares for the most custodians are dealt beside them; a key that exists already is said without dealing", async () => {
    const most = { total_shares: 255, threshold: 255 };
    const { answered, answer } = await beside(rig, acme("POST", "/api/v1/crk/generate", most));
    expect(answer.status, answer.text).toBe(200);
    expect(answer.body.shares).toHaveLength(255);
    expect(answered).toBeGreaterThan(0);
    const before = await done("threshold");
    const again = await acme("POST", "/api/v1/crk/generate", most);
    expect([again.status, again.body.error.code]).toEqual([409, "CRK_EXISTS"]);
    expect(await done("threshold")).toBe(before);
  });

  test("the largest policy is compiled beside them", async () => {
    const branches = Array.from({ length: 9_999 }, (_, i) => ` else := false if input.a == ${i}`)
      .join("")
      .slice(0, 240_000);
    const long = `package p\n\nallow if input.a == 0${branches.slice(0, branches.lastIndexOf(" else"))}\n`;
    const { answered, answer } = await beside(rig, acme("POST", "/api/v1/policies/validate", { rego: long }));
    expect(answer.status, answer.text).toBe(200);
    expect(answered).toBeGreaterThan(0);
  });

  test("a policy that uses up its budget is evaluated beside them, and denies", async () => {
    const made = await globex("POST", "/api/v1/workspaces", { name: "dear" });
    const { id } = made.body;
    const path = `/api/v1/workspaces/${id}`;
    const { id: identity_id } = rig.dev.organizations["globex"]?.admins.super_admin ?? {};
    await globex("POST", `${path}/admissions`, { identity_id, identity_type: "admin" });
    const source = "allow if count([x | some x in numbers.range(1, 1000000); some y in numbers.range(1, 1000)]) > 0";
    const policy = { name: "dear", workspace: id, rego: `package gateway.workspace["${id}"]\n${source}\n` };
    const crk_signature = await key.sign("policy.create", "", policy);
    expect((await globex("POST", "/api/v1/policies", { ...policy, crk_signature })).status).toBe(201);
    const before = await done("policies");
    for (let i = 0; i < 2; i++) {
      const { answered, answer } = await beside(rig, globex("POST", `${path}/encrypt`, { plaintext: "eA==" }));
      expect([answer.status, answer.body.error.code]).toEqual([403, "POLICY_VIOLATION"]);
      expect(answered).toBeGreaterThan(0);
    }
    expect(await done("policies")).toBeGreaterThanOrEqual(before + 2);
  });

  test("who has too much under way is told when to come again, and the others are served", async () => {
    const hooli = rig.bearer({ sub: "ceo", org: "hooli", roles: ["super_admin"] });
    const most = { total_shares: 255, threshold: 255 };
    const flood = Promise.all(Array.from({ length: 20 }, () => hooli("POST", "/api/v1/crk/generate", most)));
    const initech = rig.bearer({ sub: "ceo", org: "initech", roles: ["super_admin"] });
    const made = await initech("POST", "/api/v1/crk/generate", { total_shares: 3, threshold: 2 });
    expect(made.status, made.text).toBe(200);
    const answers = await flood;
    const refused = answers.filter(({ status }) => status === 503);
    expect(refused.length).toBeGreaterThan(0);
    for (const { headers, body } of refused) {
      expect(body.error.code).toBe("SERVICE_UNAVAILABLE");
      expect(Number(headers.get("retry-after"))).toBeGreaterThan(0);
    }
    expect(answers.filter(({ status }) => status === 200)).toHaveLength(1);
  });

  test("health and metrics say what the workers do", async () => {
    const { text } = await rig.anonymous("GET", "/metrics");
    for (const pool of ["threshold", "policies"]) {
      for (const name of ["running", "busy", "waiting", "stuck", "deadlines_total", "replaced_total", "refused_total"]) {
        expect(text).toContain(`gateway_workers_${name}{pool="${pool}"}`);
      }
    }
    const { body } = await rig.anonymous("GET", "/health");
    expect(body.components.workers).toEqual({ status: "healthy" });
  });
});
