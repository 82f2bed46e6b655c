import { mkdtemp, readFile, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { mtlsFetch } from "@seneschal/adapters/http";
import { openLogger } from "@seneschal/adapters/logging";
import { openTelemetry } from "@seneschal/adapters/telemetry";
import { serve } from "@seneschal/server-fastify";
import { afterEach, describe, expect, test } from "vitest";
import { processSettings, startDev } from "../../src/index.ts";
import { federate, openSide } from "../gateway/federated.ts";
import { attributesOf, type CollectedSpan, startCollector } from "./collector.ts";

const closing: (() => Promise<unknown>)[] = [];
afterEach(async () => {
  for (const close of closing.splice(0).reverse()) await close();
});

const below = (spans: readonly CollectedSpan[], parent: CollectedSpan | undefined): string[] =>
  spans.filter((span) => span.parentSpanId === parent?.spanId).map((span) => span.name);

describe("traces", () => {
  test("of a request stand below the caller's span and name its route, caller kind, decision, vault and store, no secret", async () => {
    const collector = await startCollector();
    closing.push(() => collector.close());
    const dir = await mkdtemp(join(tmpdir(), "seneschal-traces-"));
    closing.push(() => rm(dir, { recursive: true, force: true }));
    const log = openLogger({ level: "silent" });
    const telemetry = { endpoint: collector.endpoint, headers: { "x-token": "collector-secret" }, sample_ratio: 1 };
    const running = await startDev({
      dataDir: dir,
      portBase: "any",
      serve,
      log,
      version: "1",
      change: (config) => ({ ...config, services: ["gateway"], telemetry }),
    });
    const { credentials } = running;
    const http = mtlsFetch({ ca: await readFile(credentials.ca, "utf8") });
    closing.push(() => http.close());
    const token = Object.values(credentials.organizations)[0]?.admins.super_admin.token ?? "";
    const traceId = "0af7651916cd43dd8448eb211c80319c";
    const answer = await http.fetch(`${running.services[0]?.url}/api/v1/workspaces`, {
      method: "POST",
      headers: {
        authorization: `Bearer ${token}`,
        "content-type": "application/json",
        "x-request-id": "request-1",
        traceparent: `00-${traceId}-b7ad6b7169203331-01`,
      },
      body: JSON.stringify({ name: "hidden name" }),
    });
    expect(answer.status).toBe(201);
    await running.stop();

    const ours = collector.spans.filter((span) => span.traceId === traceId);
    const request = ours.find((span) => span.parentSpanId === "b7ad6b7169203331");
    expect(request).toMatchObject({ name: "POST /api/v1/workspaces", kind: 2 });
    expect(attributesOf(request)).toEqual({
      "seneschal.service": "gateway",
      "http.request.method": "POST",
      "http.route": "/api/v1/workspaces",
      "seneschal.operation": "createWorkspace",
      "seneschal.request_id": "request-1",
      "seneschal.principal.type": "user",
      "seneschal.principal.method": "jwt",
      "http.response.status_code": 201,
    });
    expect(below(ours, request)).toEqual(expect.arrayContaining(["policy authorise", "vault encrypt", "store commit"]));
    const all = JSON.stringify(collector.spans);
    for (const secret of [token, "hidden name", "collector-secret"]) expect(all).not.toContain(secret);
    expect(collector.headers[0]?.["x-token"]).toBe("collector-secret");
  });

  test("go on at a partner: its gateway is told the trace that the call belongs to", async () => {
    const collector = await startCollector();
    closing.push(() => collector.close());
    const seen: (string | undefined)[] = [];
    const [acme, globex] = await Promise.all([
      openSide("acme"),
      openSide("globex", {
        observe(wire) {
          if (wire.path.includes("/federation/peer/")) seen.push(wire.headers["traceparent"]);
          return undefined;
        },
      }),
    ]);
    closing.push(() => Promise.all([acme.rig.close(), globex.rig.close()]));
    await federate(acme, globex);
    const problems: string[] = [];
    const onProblem = (text: string): void => void problems.push(text);
    const telemetry = await openTelemetry({ endpoint: collector.endpoint, sampleRatio: 1, version: "1", onProblem });
    expect((await acme.call("GET", "/api/v1/federation/health")).body.results.globex.healthy).toBe(true);
    await telemetry.close();
    const call = collector.spans.find((span) => span.name === "partner call");
    expect(call?.kind).toBe(3);
    expect(seen.at(-1)).toBe(`00-${call?.traceId}-${call?.spanId}-01`);
    expect(problems).toEqual([]);
  });

  test("a collector that does not answer harms nobody and is reported; closing ends the recording", async () => {
    const problems: string[] = [];
    const onProblem = (text: string): void => void problems.push(text);
    const endpoint = "http://127.0.0.1:1/v1/traces";
    const telemetry = await openTelemetry({ endpoint, sampleRatio: 1, version: "1", onProblem });
    const { inSpan, traceHeaders } = await import("@seneschal/adapters/telemetry");
    expect(await inSpan("work", {}, () => traceHeaders())).toHaveProperty("traceparent");
    await telemetry.close();
    expect(problems.join()).toContain("ECONNREFUSED");
    expect(await inSpan("work", {}, () => traceHeaders())).toEqual({});
  });

  test("are configured by an endpoint; without one nothing is loaded", () => {
    expect(processSettings.parse({}).telemetry).toEqual({ headers: {}, sample_ratio: 1 });
    expect(processSettings.safeParse({ telemetry: { endpoint: "collector" } }).success).toBe(false);
    expect(processSettings.safeParse({ telemetry: { sample_ratio: 2 } }).success).toBe(false);
  });
});
