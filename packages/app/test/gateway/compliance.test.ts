import { createHash, createPublicKey, verify } from "node:crypto";
import { mtlsFetch } from "@seneschal/adapters/http";
import { client } from "@seneschal/contract";
import { gatewayContract } from "@seneschal/contract/gateway";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { type Registered, registered } from "./registered.ts";
import { type Answer, openRig, type Rig } from "./rig.ts";

const base = "/api/v1/compliance/reports";
const sha256 = (text: string): string => createHash("sha256").update(text).digest("hex");

function signedBy({ digest, digest_signature, digest_key }: Record<"digest" | "digest_signature" | "digest_key", string>) {
  const spki = Buffer.concat([Buffer.from("302a300506032b6570032100", "hex"), Buffer.from(digest_key, "base64")]);
  const key = createPublicKey({ key: spki, format: "der", type: "spki" });
  const message = Buffer.from(`seneschal/compliance-report/v2\0${digest}`);
  return verify(null, message, key, Buffer.from(digest_signature, "base64"));
}

describe("compliance reports", () => {
  let rig: Rig;
  let workspace: string;
  let pat: Registered;
  beforeAll(async () => {
    rig = await openRig();
    const acme = rig.admin("acme");
    const group = await acme("POST", "/api/v1/identities/groups", { name: "analysts <b>" });
    pat = await registered(rig, acme, { sub: "pat", org: "acme" });
    await acme("POST", `/api/v1/identities/groups/${group.body.id}/members`, { identity_id: pat.id, identity_type: "user" });
    const made = await acme("POST", "/api/v1/workspaces", { name: "<script>alert(1)</script>", group_id: group.body.id });
    workspace = made.body.id;
    await pat.call("POST", `/api/v1/workspaces/${workspace}/encrypt`, { plaintext: "AAAA" });
    await rig.bearer({ sub: "eve", org: "acme" })("POST", `/api/v1/workspaces/${workspace}/encrypt`, { plaintext: "AAAA" });
  });
  afterAll(() => rig.close());
  const ask = (kind: string, body: object = {}): Promise<Answer> => rig.admin("acme", "auditor")("POST", `${base}/${kind}`, body);

  it("the summary agrees with the audit log, event by event", async () => {
    const until = new Date(rig.clock.now()).toISOString();
    const { body } = await ask("summary", { until });
    const { body: log } = await rig.admin("acme")("GET", `/api/v1/audit?limit=1000&until=${until}`);
    const known = log.events.filter((event: { sequence: number }) => event.sequence <= body.log_size);
    const count = (result: string): number => known.filter((e: { result: string }) => e.result === result).length;
    expect(body).toMatchObject({ type: "summary", org_id: "acme", period: { until } });
    expect(body.data.total_events).toBe(known.length);
    expect(body.data.unique_actors).toBe(new Set(known.map((e: { actor: string }) => e.actor)).size);
    expect(body.data.success_count).toBe(count("success"));
    expect(body.data.denied_count).toBe(count("denied"));
    expect(body.data.workspace_count).toBe(1);
    expect(body.data.events_by_type["workspace.create"]).toBe(1);
  });

  it.each([
    ["json", () => ask("gdpr-dsar", { subject_id: pat.id })],
    ["csv", () => ask("export", { type: "access-review", format: "csv" })],
    ["html", () => ask("export", { type: "summary", format: "html" })],
  ])("the last line of a %s report seals every byte before it with the organisation's key", async (format, make) => {
    const { text } = await make();
    const last = text.trimEnd().lastIndexOf("\n") + 1;
    const { body: list } = await rig.admin("acme", "auditor")("GET", base);
    const seal = list.reports.find(({ id }: { id: string }) => text.includes(id));
    expect(seal).toMatchObject({ format, size: Buffer.byteLength(text.slice(0, last)) });
    expect(sha256(text.slice(0, last))).toBe(seal.digest);
    for (const part of [seal.digest, seal.digest_signature, seal.digest_key]) expect(text.slice(last)).toContain(part);
    expect(signedBy(seal)).toBe(true);
    expect(signedBy({ ...seal, digest: sha256("another report") })).toBe(false);
    const { body: one } = await rig.admin("acme", "auditor")("GET", `${base}/${seal.id}`);
    expect(one).toEqual(seal);
    expect((await rig.admin("globex", "auditor")("GET", `${base}/${seal.id}`)).status).toBe(404);
    expect((await rig.admin("globex", "auditor")("GET", base)).body.total).toBe(0);
  });

  it("is the JSON of the contract, which the typed client checks", async () => {
    const token = rig.issuer.token({ sub: "aud", org: "acme", roles: ["auditor"] }, rig.clock.now());
    const http = mtlsFetch({ ca: rig.dev.ca });
    const gateway = client(gatewayContract, {
      baseUrl: `https://localhost:${rig.server.port}`,
      fetch: http.fetch,
      headers: { authorization: `Bearer ${token}` },
    });
    const report = await gateway.accessReviewReport({ body: {} });
    expect(report.data).toMatchObject({ total_workspaces: 1, audit_stats: { total_events: expect.any(Number) } });
    await http.close();
  });

  it("is audited when it is asked for and when it is whole, then with its digest", async () => {
    const { body } = await ask("summary");
    const { body: log } = await rig.admin("acme")("GET", "/api/v1/audit?event_type=audit.export&limit=2");
    expect(log.events.map((event: { metadata: object }) => event.metadata)).toEqual([
      { report: "summary", report_id: body.id, format: "json", digest: body.digest },
      { report: "summary", report_id: body.id, format: "json" },
    ]);
  });

  it("a subject access report holds what the person did, what was done to it, and nobody else's deeds", async () => {
    const { body } = await ask("gdpr-dsar", { subject_id: pat.id });
    const types = body.data.events.map((event: { event_type: string }) => event.event_type);
    expect(types).toEqual(expect.arrayContaining(["group.member.add", "encrypt"]));
    expect(body.data.total_events).toBe(body.data.events.length);
    expect(body.data.memberships).toEqual([expect.objectContaining({ identity_id: pat.id })]);
    const others = body.data.events.filter((event: object) => !JSON.stringify(event).includes(`"${pat.id}"`));
    expect(others).toEqual([]);
    const admin = rig.dev.organizations["acme"]?.admins.auditor;
    const own = await ask("gdpr-dsar", { subject_id: admin?.id });
    expect(own.body.data.identity).toMatchObject({ type: "admin", email: admin?.email });
    expect((await ask("gdpr-dsar", {})).status).toBe(400);
  });

  it("an access review names who reaches a workspace and when they last did", async () => {
    const { body } = await ask("access-review");
    expect(body.data.total_workspaces).toBe(1);
    const [review] = body.data.workspaces;
    expect(review).toMatchObject({ workspace_id: workspace, classification: "CONFIDENTIAL" });
    expect(review.groups[0].members).toEqual([expect.objectContaining({ identity_id: pat.id, last_access: review.last_access })]);
    expect(review.admissions).toEqual([expect.objectContaining({ roles: ["super_admin"], last_access: null })]);
  });

  it("files escape what would run in a browser or a spreadsheet", async () => {
    const page = await ask("export", { type: "access-review", format: "html" });
    expect(page.headers.get("content-type")).toContain("text/html");
    expect(page.headers.get("content-disposition")).toContain("report-access-review.html");
    expect(page.text).toContain("&#60;script&#62;alert(1)&#60;/script&#62;");
    expect(page.text).not.toContain("<script>");
    const file = await ask("export", { type: "summary", format: "csv" });
    expect(file.text.startsWith("path,value\r\n")).toBe(true);
    expect(file.text).toMatch(/\r\ndata\.total_events,[0-9]+\r\n/);
  });

  it("a page reads as one: headings for parts, a row for each thing, names beside ids", async () => {
    const { text } = await ask("export", { type: "access-review", format: "html" });
    expect(text).toContain("<h2>Workspaces</h2>");
    expect(text).toContain('<th scope="col">Last access</th>');
    expect(text).toContain("super_admin of acme");
    expect(text).not.toContain("total_workspaces");
  });

  it("is for those who may read the log, of their own organisation", async () => {
    expect((await rig.admin("acme", "operations_admin")("POST", `${base}/summary`, {})).status).toBe(403);
    expect((await rig.admin("globex")("POST", `${base}/summary`, { org_id: "acme" })).status).toBe(403);
    expect((await rig.admin("globex")("POST", `${base}/gdpr-dsar`, { subject_id: pat.id })).body.data.events).toEqual([]);
    const backwards = { since: "2026-02-01T00:00:00Z", until: "2026-01-01T00:00:00Z" };
    expect((await ask("summary", backwards)).status).toBe(400);
  });
});
