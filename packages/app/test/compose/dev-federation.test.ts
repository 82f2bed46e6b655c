import { mkdtemp, readFile, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { type IdentityFetch, mtlsFetch } from "@seneschal/adapters/http";
import { openLogger } from "@seneschal/adapters/logging";
import { serve } from "@seneschal/server-express";
import { serveGrpc } from "@seneschal/server-grpc";
import { serveS3 } from "@seneschal/server-s3";
import { expect, it, onTestFinished } from "vitest";
import { startDev } from "../../src/index.ts";
import { federate } from "../gateway/federated.ts";
import type { Answer } from "../gateway/rig.ts";
import { rootKey } from "../gateway/root-key.ts";

/** What `seneschal dev --org ORG` is: an instance of its own, and its super admin by certificate, over its socket. */
async function openInstance(org: string) {
  const dataDir = await mkdtemp(join(tmpdir(), `seneschal-dev-${org}-`));
  onTestFinished(() => rm(dataDir, { recursive: true, force: true }));
  const log = openLogger({ level: "silent" });
  const options = {
    dataDir,
    portBase: "any",
    http: "express",
    serve,
    serveS3,
    serveGrpc,
    log,
    version: "test",
    organizations: [org],
  } as const;
  const running = await startDev(options);
  onTestFinished(() => running.stop());
  const { ca, base_urls, organizations } = running.credentials;
  const { cert, key } = organizations[org]?.admins.super_admin ?? { cert: "", key: "" };
  const [caPem, certPem, keyPem] = await Promise.all([ca, cert, key].map((path) => readFile(path, "utf8")));
  const http: IdentityFetch = mtlsFetch({ ca: caPem ?? "", cert: certPem ?? "", key: keyPem ?? "" });
  onTestFinished(() => http.close());
  const url = base_urls["gateway"] ?? "";
  const call = async (method: string, path: string, body?: unknown): Promise<Answer> => {
    const headers = body === undefined ? {} : { "content-type": "application/json" };
    const reply = await http.fetch(`${url}${path}`, {
      method,
      headers,
      ...(body === undefined ? {} : { body: JSON.stringify(body) }),
    });
    const text = await reply.text();
    return { status: reply.status, headers: reply.headers, text, body: text === "" ? undefined : JSON.parse(text) };
  };
  const root = await rootKey(call);
  const signed = async (operation: string, resource: string, method: string, path: string, body: object): Promise<Answer> => {
    const name = operation === "federation.init" || operation === "federation.establish" ? "crk_signature" : "signature";
    return call(method, path, { ...body, [name]: await root.sign(operation, resource, body) });
  };
  return { org, url, call, signed };
}

it("two dev instances federate over their sockets, and a workspace of one is used at the other", async () => {
  const [acme, globex] = await Promise.all([openInstance("acme"), openInstance("globex")]);
  await federate(acme, globex);
  for (const [at, partner] of [
    [acme, "globex"],
    [globex, "acme"],
  ] as const)
    expect((await at.call("GET", "/api/v1/federation/health")).body.results[partner]).toMatchObject({ status: "healthy" });

  const { body: workspace } = await acme.call("POST", "/api/v1/workspaces", { name: "shared" });
  const path = `/api/v1/workspaces/${workspace.id}`;
  expect((await acme.call("POST", `${path}/invite`, { org_id: "globex" })).status).toBe(201);
  await expect.poll(async () => (await globex.call("GET", "/api/v1/invitations")).body.total, { timeout: 30_000 }).toBe(1);
  expect((await globex.call("POST", `${path}/accept-invitation`, {})).status).toBe(204);
  const { body: sealed } = await acme.call("POST", `${path}/encrypt`, { plaintext: "c2hhcmVk" });
  const opened = () => globex.call("POST", `${path}/decrypt`, { ciphertext: sealed.ciphertext });
  await expect.poll(async () => (await opened()).body.plaintext, { timeout: 30_000 }).toBe("c2hhcmVk");
}, 120_000);
