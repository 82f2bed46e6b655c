/**
 * The story that Seneschal exists for, over real HTTPS against a server that this program starts itself. Every line is
 * printed after what it says has happened and was checked.
 */
import { readdir, readFile, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { bootstrapBytes } from "@seneschal/app/gateway";
import { caller } from "./caller.ts";
import { ceremony } from "./custodians.ts";
import { enrol } from "./enrol.ts";
import { expect, story } from "./story.ts";
import { openWorld } from "./world.ts";

const base64 = (text: string): string => Buffer.from(text).toString("base64");
const { step } = story();

const world = await step("a server runs with all four services, a vault of its own, and no organisation", openWorld);
const { ca, urls } = world;
const gateway = urls["gateway"] ?? "";
// The address tells an officer from an admin who comes with a certificate: approvals count people.
const officer = (org: string) =>
  caller(gateway, {
    ca,
    token: world.token({
      sub: `officer@${org}`,
      org,
      roles: ["super_admin"],
      email: `officer@${org}.example`,
      email_verified: true,
    }),
  });
const officers = { acme: officer("acme"), globex: officer("globex") };
const person = (org: string) => (sub: string) => caller(gateway, { ca, token: world.token({ sub, org }) });
const anybody = caller(gateway, { ca });

// Keys
const acmeKey = await step(
  "acme's five custodians make its root key; each share is sealed under a password only one of them knows",
  () => ceremony(officers.acme, person("acme")),
);
const acme = await step(
  "three of them sign for acme's first admin, who enrols with a key of her own: from here on mutual TLS",
  async () => {
    const first = { email: "ada@acme.example", name: "Ada" };
    const crk_signature = await acmeKey.sign(bootstrapBytes(world.instance, "acme", first));
    const { body: admin } = await anybody.call(
      "POST",
      "/api/v1/bootstrap/admin",
      { ...first, org_id: "acme", crk_signature },
      201,
    );
    await anybody.call("POST", "/api/v1/bootstrap/admin", { ...first, org_id: "acme", crk_signature }, 403);
    return enrol(anybody, gateway, ca, admin);
  },
);
const globexKey = await step("globex holds a ceremony of its own", () => ceremony(officers.globex, person("globex")));
const globex = await step("and enrols its admin", async () => {
  const wish = { email: "gus@globex.example", name: "Gus", role: "super_admin" };
  const { body: admin } = await officers.globex.call("POST", "/api/v1/identities/admins", wish, 201);
  return enrol(anybody, gateway, ca, admin);
});
expect(acmeKey.publicKey !== globexKey.publicKey, "two organisations, two root keys");

// Workspace
const workspace = await step("acme shares a CONFIDENTIAL workspace, protected by its root key, with globex", async () => {
  const body = { name: "merger", classification: "CONFIDENTIAL", purpose: "merger" };
  const crk_signature = await acmeKey.signOperation("workspace.create", "", body);
  const { body: made } = await acme.call("POST", "/api/v1/workspaces", { ...body, crk_signature }, 201);
  expect(made.crk_protected, "the workspace is protected by the root key");
  const path = `/api/v1/workspaces/${made.id}`;
  const signature = await acmeKey.signOperation("workspace.invite", made.id, { org_id: "globex" });
  await globex.call("GET", path, undefined, 404);
  await acme.call("POST", `${path}/invite`, { org_id: "globex", signature }, 201);
  const accepted = await globexKey.signOperation("workspace.accept", made.id, { org_id: "globex" });
  await globex.call("POST", `${path}/accept-invitation`, { org_id: "globex", signature: accepted }, 204);
  return path;
});

const policy =
  'allow if { input.operation != "decrypt" }\nallow if { input.purpose == "merger" }\ndeny_reason := "for the merger only" if not allow';
await step("a policy in Rego, signed by the root key, lets data out for the merger only", async () => {
  const id = workspace.split("/").at(-1) ?? "";
  const body = { name: "purpose", workspace: id, rego: `package gateway.workspace["${id}"]\n${policy}\n` };
  const crk_signature = await acmeKey.signOperation("policy.create", "", body);
  await acme.call("POST", "/api/v1/policies", { ...body, crk_signature }, 201);
});

const context = { purpose: "merger", document: "offer" };
const sealed = await step("acme encrypts the offer", async () => {
  const { body } = await acme.call("POST", `${workspace}/encrypt`, { plaintext: base64("forty million"), context });
  return body.ciphertext as string;
});
const reader = person("globex")("reader@globex");
await step("a reader of globex cannot open it; once globex has admitted them, they can", async () => {
  await reader.call("POST", `${workspace}/decrypt`, { ciphertext: sealed, context }, 403);
  const wish = { provider: "idp_a", subject: "reader@globex", email: "reader@globex.example", name: "Reader", groups: [] };
  const { body: user } = await globex.call("POST", "/api/v1/identities/users/sso", wish, 201);
  await globex.call("POST", `${workspace}/admissions`, { identity_id: user.id, identity_type: "user" }, 201);
  const { body } = await reader.call("POST", `${workspace}/decrypt`, { ciphertext: sealed, context });
  expect(body.plaintext === base64("forty million"), "globex reads what acme wrote");
});
await step("for gossip the policy says no, with its reason; with another context the ciphertext does not open", async () => {
  const { body } = await reader.call("POST", `${workspace}/decrypt`, { ciphertext: sealed, context: { purpose: "gossip" } }, 403);
  expect(body.error.details.deny_reason === "for the merger only", "the policy's own reason");
  await globex.call(
    "POST",
    `${workspace}/decrypt`,
    { ciphertext: sealed, context: { purpose: "merger", document: "other" } },
    400,
  );
});
await step("the key is rotated by a signed command; a replayed signature is refused; old data is still readable", async () => {
  const id = workspace.split("/").at(-1) ?? "";
  const signature = await acmeKey.signOperation("workspace.rotate-dek", id, {});
  await acme.call("POST", `${workspace}/rotate-dek`, { signature }, 204);
  await acme.call("POST", `${workspace}/rotate-dek`, { signature }, 409);
  const { body } = await globex.call("POST", `${workspace}/decrypt`, { ciphertext: sealed, context });
  expect(body.plaintext === base64("forty million"), "old data is readable after rotation");
});

await step("break-glass: with two approvals somebody acts as super admin for an hour, under audit, and no longer", async () => {
  const base = "/api/v1/emergency-access";
  const person = caller(gateway, { ca, token: world.token({ sub: "night-shift@acme", org: "acme" }) });
  const { body: asked } = await person.call("POST", `${base}/request`, { reason: "the castle burns" }, 201);
  await acme.call("POST", `${base}/${asked.id}/approve`);
  await acme.call("POST", `${base}/${asked.id}/approve`, undefined, 409);
  const { body: approved } = await officers.acme.call("POST", `${base}/${asked.id}/approve`);
  expect(approved.status === "approved", "two distinct persons approve");
  const { body: granted } = await person.call("GET", `${base}/${asked.id}`);
  const glass = caller(gateway, { ca, token: granted.token });
  await person.call("GET", "/api/v1/audit", undefined, 403);
  await glass.call("GET", "/api/v1/audit");
  await person.call("POST", `${base}/${asked.id}/complete`);
  await glass.call("GET", "/api/v1/audit", undefined, 401);
  await Promise.all([person.close(), glass.close()]);
});

// Data governance
await step("a query is classified: a social security number is proprietary", async () => {
  const governance = caller(urls["governance"] ?? "", { ca });
  const { body } = await governance.call("POST", "/api/v1/classify", { query: "SELECT name, ssn FROM customers", context: {} });
  expect(body.tier === "PROPRIETARY" && body.tags.includes("SSN"), "the tier and tag of an SSN");
  await governance.close();
});

await step("exporting the customers is denied; each alternative that is offered instead would be allowed", async () => {
  const governance = caller(urls["governance"] ?? "", { ca, token: world.credentials.governance.api_key });
  await governance.call("PUT", "/api/v1/resources/customers", { tier: "PROPRIETARY", tags: ["PII"] });
  const request = {
    operation_type: "EXPORT",
    source_resources: ["customers"],
    destination_resource: "s3://elsewhere/dump",
    user_context: { user_id: "uma", role: "analyst", department: "sales" },
  };
  const { body: denied } = await governance.call("POST", "/api/v1/evaluate", request);
  expect(denied.allowed === false && denied.policy_evaluation.policy_name !== "", "the export is denied by a named policy");
  for (const { request: other } of denied.alternative_requests) {
    const { body } = await governance.call("POST", "/api/v1/evaluate", other);
    expect(body.allowed === true, "an alternative is allowed when it is sent back");
  }
  await governance.close();
});

// Quotas
await step("the scheduler lets nobody over a hard quota", async () => {
  const scheduler = caller(urls["scheduler"] ?? "", {
    ca,
    token: world.token({ sub: "ops", org: "physics", roles: ["system-admin"] }),
  });
  const user = caller(urls["scheduler"] ?? "", { ca, token: world.token({ sub: "uma", org: "physics", roles: ["user"] }) });
  await scheduler.call("POST", "/api/v1/tenants", { name: "physics", max_nodes: 2, fair_share_target: 0.5 }, 201);
  const { body } = await user.call("POST", "/api/v1/allocations", { tenant: "physics", entrypoint: "true", nodes: 3 }, 429);
  expect(
    body.error.message ===
      "allocation rejected: tenant physics would exceed max_nodes quota (current: 0, requested: 3, limit: 2)",
    "the rejection in the words of the specification",
  );
  await Promise.all([scheduler.close(), user.close()]);
});

// Storage
await step("a bit flips on a storage device; the scrub finds and repairs it", async () => {
  const storage = caller(urls["storage"] ?? "", { ca, token: world.credentials.storage.admin_token });
  await storage.call("POST", "/ui/api/ops/tenants", { tenant_id: "acme" });
  const damaged = await writeAndDamage(storage);
  expect(damaged > 0, "something was damaged");
  const { body: started } = await storage.call("POST", "/ui/api/ops/scrub", {});
  for (;;) {
    const { body: job } = await storage.call("GET", `/ui/api/jobs/${started.job_id}`);
    if (job.state === "succeeded") {
      expect(job.result.repaired >= 1 && job.result.lost === 0, `the scrub repaired: ${JSON.stringify(job.result)}`);
      break;
    }
    expect(job.state === "queued" || job.state === "running", `the scrub runs: ${job.state}`);
  }
  await storage.close();
});

// Audit
await step("both audit logs verify from the first event to the last", async () => {
  for (const who of [acme, globex]) {
    const { body } = await who.call("POST", "/api/v1/audit/verify", {});
    expect(body.valid === true, "the log is whole");
  }
});

for (const one of [acme, globex, reader, officers.acme, officers.globex, anybody, acmeKey, globexKey]) await one.close();
await world.close();

/** Puts an object through the S3 gateway and flips one bit of one of its fragments on disk. */
async function writeAndDamage(storage: typeof acme): Promise<number> {
  const { S3Client, CreateBucketCommand, PutObjectCommand } = await import("@aws-sdk/client-s3");
  const { body: key } = await storage.call("POST", "/ui/api/ops/tenants/acme/credentials", {});
  const s3 = new S3Client({
    endpoint: urls["s3"] ?? "",
    region: "us-east-1",
    forcePathStyle: true,
    credentials: { accessKeyId: key.access_key, secretAccessKey: key.secret_key },
  });
  await s3.send(new CreateBucketCommand({ Bucket: "offers" }));
  await s3.send(new PutObjectCommand({ Bucket: "offers", Key: "offer.bin", Body: new Uint8Array(200_000).fill(7) }));
  s3.destroy();
  const files = (await readdir(join(world.dir, "storage"), { recursive: true })).filter((name) => name.endsWith(".seg"));
  for (const name of files) {
    const path = join(world.dir, "storage", name);
    const bytes = await readFile(path);
    if (bytes.length < 1000) continue;
    bytes[500] = (bytes[500] ?? 0) ^ 1;
    await writeFile(path, bytes);
    return 1;
  }
  return 0;
}
