import { once } from "node:events";
import { mkdtemp, rm } from "node:fs/promises";
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { Writable } from "node:stream";
import { openLogger } from "@seneschal/adapters/logging";
import { type Contract, docsContract, sealContract } from "@seneschal/contract";
import { middleware } from "@seneschal/server-express";
import { plugin } from "@seneschal/server-fastify";
import { serveGrpc } from "@seneschal/server-grpc";
import { serveS3 } from "@seneschal/server-s3";
import express from "express";
import fastify from "fastify";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { prepareDev } from "../../src/compose/prepare-dev.ts";
import { gatewayService } from "../../src/gateway/index.ts";
import { governanceService } from "../../src/governance/index.ts";
import type { Service } from "../../src/index.ts";
import { assembleService } from "../../src/platform/service.ts";
import { schedulerService } from "../../src/scheduler/index.ts";
import { storageService } from "../../src/storage/index.ts";

const names = ["gateway", "governance", "scheduler", "storage"] as const;
type Name = (typeof names)[number];
const LIMIT = 40;

interface Host {
  readonly url: string;
  close(): Promise<void>;
}

/** Puts services below `/inside/NAME` of an application that has `GET /own` and `GET /inside/own`, and that says what it does not know. */
type Mount = (services: Readonly<Record<Name, Service>>) => Promise<Host>;

const onExpress: Mount = async (services) => {
  const app = express();
  app.get("/own", (_, response) => void response.send("own"));
  for (const name of names) app.use(`/inside/${name}`, middleware(services[name].dispatch));
  app.use(express.json());
  app.get("/inside/own", (_, response) => void response.send("own"));
  const server = createServer(app).listen(0, "127.0.0.1");
  await once(server, "listening");
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    async close() {
      server.close();
      server.closeAllConnections();
      await once(server, "close");
    },
  };
};

const onFastify: Mount = async (services) => {
  const app = fastify({ forceCloseConnections: true });
  app.get("/own", () => "own");
  for (const name of names) await app.register(plugin, { prefix: `/inside/${name}`, dispatch: services[name].dispatch });
  app.get("/inside/own", () => "own");
  return { url: await app.listen({ port: 0, host: "127.0.0.1" }), close: () => app.close() };
};

/** The four services on one directory, each with its own credential of whoever may do most. */
async function world(mount: Mount) {
  const dir = await mkdtemp(join(tmpdir(), "seneschal-embedding-"));
  const lines: string[] = [];
  const log = openLogger({
    destination: new Writable({
      write(chunk, _encoding, done) {
        lines.push(String(chunk));
        done();
      },
    }),
  });
  const quiet = openLogger({ level: "silent" });
  const { config, credentials } = await prepareDev({
    dataDir: dir,
    portBase: "any",
    log: quiet,
    version: "test",
    organizations: ["acme"],
  });
  const { auth, log: logging, scheduling } = config;
  const few = { anonymous: { limit: LIMIT, window: 3_600_000 } };
  const limited = <C extends { readonly rate_limit: object }>(settings: C): C => ({
    ...settings,
    rate_limit: { ...settings.rate_limit, ...few },
  });
  const definitions = {
    gateway: gatewayService(dir),
    governance: governanceService(dir),
    scheduler: schedulerService(),
    storage: storageService(dir, { serveS3, serveGrpc }),
  };
  const services = {
    gateway: await assembleService(definitions.gateway, limited({ ...config.gateway, auth }), { log }),
    governance: await assembleService(definitions.governance, limited({ ...config.governance, log: logging }), { log }),
    scheduler: await assembleService(
      definitions.scheduler,
      limited({
        ...config.scheduler,
        auth,
        log: logging,
        scheduling,
        storage: { ...config.scheduler.storage, path: join(dir, "scheduler") },
      }),
      { log },
    ),
    storage: await assembleService(definitions.storage, limited(config.storage), { log }),
  };
  const host = await mount(services);
  const acme = credentials.organizations["acme"]!;
  const bearer: Readonly<Record<Name, string>> = {
    gateway: acme.admins.super_admin.token,
    governance: acme.governance.api_key,
    scheduler: acme.scheduler["system-admin"]!.token,
    storage: credentials.storage.admin_token,
  };
  async function ask(path: string, options: RequestInit = {}) {
    const reply = await fetch(host.url + path, { redirect: "manual", ...options });
    return { status: reply.status, headers: reply.headers, text: await reply.text() };
  }
  const call = (name: Name, method: string, path: string, body?: object) =>
    ask(`/inside/${name}${path}`, {
      method,
      headers: { authorization: `Bearer ${bearer[name]}`, "content-type": "application/json" },
      ...(body === undefined ? {} : { body: JSON.stringify(body) }),
    });
  return {
    definitions,
    services,
    lines,
    ask,
    call,
    bearer,
    async close() {
      for (const name of names) await services[name].stop();
      await host.close();
      await rm(dir, { recursive: true, force: true });
    },
  };
}

/** A change of each service, and where its record of it stands. */
const changes: Readonly<Record<Name, { readonly change: [string, string, object]; readonly record: [string, string, RegExp] }>> =
  {
    gateway: {
      change: ["POST", "/api/v1/identities/admins", { email: "grace@acme.example", name: "Grace", role: "auditor" }],
      record: ["GET", "/api/v1/audit", /admin/],
    },
    governance: {
      change: ["POST", "/api/v1/api-keys", { name: "reports", scopes: ["classify"] }],
      record: ["GET", "/api/v1/audit", /key/i],
    },
    scheduler: {
      change: ["PUT", "/api/v1/system/quotas", { sensitive_pool_size: 3 }],
      record: ["GET", "/api/v1/audit", /quota|system/],
    },
    storage: {
      change: ["POST", "/ui/api/ops/maintenance", { enabled: true }],
      record: ["GET", "/ui/api/events", /maintenance/i],
    },
  };

describe.each([
  ["Express", onExpress],
  ["Fastify", onFastify],
] as const)("four services below paths of one application on %s", (_, mount) => {
  let it: Awaited<ReturnType<typeof world>>;
  beforeAll(async () => {
    it = await world(mount);
  }, 60_000);
  afterAll(() => it?.close(), 60_000);

  /** Every route of every service, with some value for each parameter. */
  async function everyRoute(check: (status: number, route: string, text: string) => void) {
    for (const name of names) {
      const contract: Contract = it.definitions[name].contract;
      for (const [id, { method, path }] of Object.entries(contract)) {
        const { status, text } = await it.call(name, method, path.replace(/:[a-z0-9_]+/gi, "x"));
        check(status, `${name} ${id}`, text);
      }
    }
  }

  test("until they are started every route is answered 503, and the application's own are not", async () => {
    await everyRoute((status, route, text) => {
      expect(status, route).toBe(503);
      expect(text, route).toMatch(/SERVICE_UNAVAILABLE|service_unavailable|unavailable/i);
    });
    for (const path of ["/own", "/inside/own"]) expect(await it.ask(path)).toMatchObject({ status: 200, text: "own" });
  });

  test("started, each is healthy beside the others and beside the application's own routes", async () => {
    await Promise.all(names.map((name) => it.services[name].start()));
    for (const name of names) {
      expect((await it.call(name, "GET", "/health")).status, name).toBe(200);
      expect((await it.call(name, "GET", "/nowhere")).status, name).toBe(404);
      expect((await it.services[name].health()).components, name).not.toEqual({});
    }
    for (const path of ["/own", "/inside/own"]) expect(await it.ask(path)).toMatchObject({ status: 200, text: "own" });
    // What is not below a service's path is not the service's.
    for (const path of ["/health", "/metrics", "/inside/health", "/inside/gatewayhealth"])
      expect((await it.ask(path)).status, path).toBe(404);
  });

  test("OpenAPI documents, pages, links and cookies name the path that the service stands at", async () => {
    expect((await it.call("governance", "PUT", "/api/v1/resources/x", { tier: "INTERNAL" })).status).toBeLessThan(300);
    for (const name of names) {
      const base = `/inside/${name}`;
      const contract = it.definitions[name].contract as Contract;
      // Whoever is to make a client has no credential yet.
      const document = await it.ask(`${base}/openapi.json`);
      expect(document.status, name).toBe(200);
      const { servers, paths } = JSON.parse(document.text) as { servers: unknown; paths: Record<string, object> };
      expect(servers, name).toEqual([{ url: base }]);
      const operations = Object.values(paths).flatMap((path) => Object.values(path as Record<string, { operationId: string }>));
      expect(operations.map(({ operationId }) => operationId).sort(), name).toEqual(
        Object.keys({ ...contract, ...(name === "gateway" || name === "storage" ? sealContract : {}) }).sort(),
      );
      const known = { "if-none-match": document.headers.get("etag") ?? "" };
      expect((await it.ask(`${base}/openapi.json`, { headers: known })).status, name).toBe(304);
      // The reference pages are governance's alone.
      const routes = Object.values({ ...contract, ...(name === "governance" && docsContract) });
      const pages = routes.filter(({ method, produces }) => method === "GET" && produces?.startsWith("text/html") === true);
      expect(pages.length, name).toBeGreaterThanOrEqual({ gateway: 0, governance: 3, scheduler: 0, storage: 9 }[name]);
      for (const page of pages) {
        const path = page.path.replace(/:[a-z0-9_]+/gi, "x");
        const { status, text } = await it.call(name, "GET", path);
        expect(status, `${name} ${path}`).toBe(200);
        const links = [...text.matchAll(/\b(?:href|src|action)="([^"]*)"/g)].map(([, link = ""]) => link);
        for (const link of links.filter((one) => !/^(data:|#|https?:)/.test(one))) {
          const { pathname } = new URL(link, `http://host${base}${path}`);
          expect(pathname, `${name} ${path}`).toMatch(new RegExp(`^${base}/`));
          if (pathname.includes(".")) expect((await it.ask(pathname)).status, pathname).toBe(200);
        }
      }
    }
    const session = await it.call("storage", "POST", "/ui/api/session", { token: it.bearer.storage });
    expect(session.headers.getSetCookie()).toEqual([expect.stringContaining("Path=/inside/storage/ui;")]);
    const [cookie = ""] = session.headers.getSetCookie()[0]!.split(";");
    const page = await it.ask("/inside/storage/ui/fragment/node-table", { headers: { cookie } });
    expect(page.status).toBe(200);
  });

  test("changes are in the audit log, requests in the metrics and the log", async () => {
    for (const name of names) {
      const { change, record } = changes[name];
      const [method, path, body] = change;
      const made = await it.call(name, method, path, body);
      expect(made.status, `${name} ${made.text}`).toBeLessThan(300);
      const location = made.headers.get("location");
      if (location !== null) expect(location).toMatch(new RegExp(`^/inside/${name}/`));
      const [reading, where, what] = record;
      expect((await it.call(name, reading, where)).text, name).toMatch(what);
      const metrics = await it.call(name, "GET", "/metrics");
      expect(metrics.text, name).toMatch(new RegExp(`^${name}_\\w*requests?_\\w*total\\{.*\\} [1-9]`, "m"));
      expect(
        it.lines.some((line) => line.includes(`"service":"${name}"`) && line.includes('"request"')),
        name,
      ).toBe(true);
    }
  });

  test("what a page of another site makes a browser send is refused", async () => {
    for (const name of names) {
      const [method, path, body] = changes[name].change;
      const { status, text } = await it.ask(`/inside/${name}${path}`, {
        method,
        headers: { cookie: "session=1", "sec-fetch-site": "cross-site", "content-type": "application/json" },
        body: JSON.stringify(body),
      });
      expect({ status, text }, name).toEqual({ status: 403, text: expect.stringContaining("Sec-Fetch-Site") });
    }
  });

  test("rate limits hold, of each service for itself", async () => {
    for (const name of names) {
      const [method, path] = changes[name].change;
      const seen: number[] = [];
      for (let i = 0; i <= LIMIT; i++) seen.push((await it.ask(`/inside/${name}${path}`, { method })).status);
      expect(seen.at(-1), name).toBe(429);
      expect((await it.call(name, "GET", changes[name].record[1])).status, name).toBe(200);
    }
    for (let i = 0; i <= LIMIT; i++) expect((await it.ask("/own")).status).toBe(200);
  });

  test("stopped, each has answered what was in flight, then answers 503; the application goes on", async () => {
    for (const name of names) {
      const [, path] = changes[name].record;
      const inFlight = Array.from({ length: 8 }, () => it.call(name, "GET", path));
      await inFlight[0];
      const stopped = it.services[name].stop();
      const late = await it.call(name, "GET", path);
      await stopped;
      expect(late.status, name).toBe(503);
      for (const { status } of await Promise.all(inFlight)) expect([200, 503], name).toContain(status);
      await expect(it.services[name].start(), name).rejects.toMatchObject({ code: "service_unavailable" });
      // The others are as they were.
      for (const other of names.slice(names.indexOf(name) + 1))
        expect((await it.call(other, "GET", "/health")).status, `${other} after ${name}`).toBe(200);
    }
    await everyRoute((status, route) => expect(status, route).toBe(503));
    expect(await it.ask("/own")).toMatchObject({ status: 200, text: "own" });
  });
});
