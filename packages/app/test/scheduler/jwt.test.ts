import { generateKeyPairSync } from "node:crypto";
import { mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import type { Route } from "@seneschal/contract";
import { schedulerContract } from "@seneschal/contract/scheduler";
import { afterAll, beforeAll, expect, test } from "vitest";
import { type Harness, NOON, servers, startScheduler } from "./harness.ts";
import { signJwt } from "./sign-jwt.ts";

const { privateKey, publicKey } = generateKeyPairSync("ec", { namedCurve: "P-256" });
const claims = { iss: "https://idp.example", aud: "scheduler", exp: NOON / 1000 + 3600, org: "physics" };
let s: Harness;
let directory: string;
beforeAll(async () => {
  directory = await mkdtemp(join(tmpdir(), "jwt-"));
  const file = join(directory, "key.pem");
  await writeFile(file, publicKey.export({ type: "spki", format: "pem" }));
  s = await startScheduler(servers[0]![1], {
    auth: { jwt: { enabled: true, public_key: file, issuer: claims.iss, audiences: [claims.aud] } },
  });
  await s.cluster(1);
});
afterAll(async () => {
  await s.stop();
  await rm(directory, { recursive: true });
});

const as = (more: object) => ({ authorization: `Bearer ${signJwt({ ...claims, ...more }, privateKey)}` });

test("a JWT's subject is the user, its org the tenant", async () => {
  const jo = as({ sub: "jo", roles: ["nonsense", "user"] });
  const made = await s.call(undefined, "POST", "/api/v1/allocations", { tenant: "physics" }, jo);
  expect(made.status).toBe(201);
  expect((await s.ok("root", "GET", `/api/v1/allocations/${made.body.id}`)).user).toBe("jo");
  expect((await s.call(undefined, "POST", "/api/v1/allocations", { tenant: "other" }, jo)).status).toBe(403);
  expect((await s.call(undefined, "GET", "/api/v1/audit", undefined, as({ sub: "jo", roles: ["system-admin"] }))).status).toBe(
    200,
  );
});

const guarded = Object.entries<Route>(schedulerContract).filter(([, route]) => route.auth !== "public");

test.each(guarded)("%s: a token without a known role is a 403 and changes nothing", async (_, route) => {
  const path = route.path.replace(":id", "n0");
  const body = route.method === "GET" ? undefined : { tenant: "physics" };
  const before = (await s.ok("root", "GET", "/api/v1/raft/status?hash=true")).state_hash;
  for (const roles of [undefined, [], ["nonsense"], ["librarian"], ["User"], ["user "], ["constructor"], "super_admin"]) {
    const answer = await s.call(undefined, route.method, path, body, as({ sub: "jo", roles }));
    expect([roles, answer.status, answer.body.error?.code]).toEqual([roles, 403, "forbidden"]);
  }
  expect((await s.ok("root", "GET", "/api/v1/raft/status?hash=true")).state_hash).toBe(before);
});

test("a token cannot make its bearer a peer of the log", async () => {
  const headers = as({ sub: "jo", roles: ["peer"] });
  const body = { commands: [{ kind: "tenant.create", id: "x", by: "jo", tenant: "mine", settings: {} }] };
  expect((await s.call(undefined, "POST", "/api/v1/internal/proposals", body, headers)).status).toBe(403);
});

test.each([
  ["expired", { sub: "jo", exp: NOON / 1000 - 3600 }],
  ["for others", { sub: "jo", aud: "gateway" }],
  ["of another issuer", { sub: "jo", iss: "https://evil.example" }],
  ["of a subject with a NUL", { sub: "jo\0physics" }],
  ["of a subject with a lone surrogate", { sub: "jo\ud800" }],
  ["of a role with a NUL", { sub: "jo", roles: ["user", "x\0"] }],
  ["of a subject without end", { sub: "j".repeat(257) }],
  ["of an organisation with a slash", { sub: "jo", org: "physics/x" }],
  ["of an organisation with a NUL", { sub: "jo", org: "physics\0" }],
])("a token that is %s is a 401", async (_, more) => {
  expect((await s.call(undefined, "GET", "/api/v1/tenants", undefined, as(more))).status).toBe(401);
});
