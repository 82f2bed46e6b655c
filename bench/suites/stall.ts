import { type ChildProcess, fork } from "node:child_process";
import { mkdtempSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { type IdentityFetch, mtlsFetch } from "@seneschal/adapters/http";
import type { DevCredentialsFile } from "@seneschal/app";
import type { Route } from "@seneschal/contract";
import { SERVICE_NAMES, serviceContract } from "../../tools/service-contracts.ts";
import { type Bench, type BenchResult, serverOptions } from "../bench.ts";
import { costlyBodies } from "../costly-bodies.ts";
import { type Ask, type Seed, seeds } from "../stall-seeds.ts";

const BAR = 50;
/** A request that is not answered by then is left alone; its turn is counted all the same. */
const PATIENCE = 60_000;
/** Of so many tries the shortest counts: what the machine or a collection of garbage made of one does not come back. A first try that is below the bar needs no other. */
const TRIES = 4;

type Service = (typeof SERVICE_NAMES)[number];

interface Served {
  ask(service: Service): Ask;
  seed(service: Service): Promise<Seed>;
  /** The longest turn since the last call, in milliseconds. */
  longest(): Promise<number>;
}

async function start(): Promise<Served> {
  const dir = mkdtempSync(join(tmpdir(), "seneschal-stall-"));
  const child: ChildProcess = fork(new URL("../stall-server.ts", import.meta.url).pathname, [dir], {
    execArgv: [...process.execArgv.filter((arg) => !serverOptions.includes(arg)), ...serverOptions],
  });
  const told = <T>(): Promise<T> =>
    new Promise((resolve, reject) => {
      const ended = (): void => reject(new Error("the server ended"));
      child.once("exit", ended);
      child.once("message", (message) => {
        child.off("exit", ended);
        resolve(message as T);
      });
    });
  const { credentials: file } = await told<{ readonly credentials: string }>();
  const credentials = JSON.parse(readFileSync(file, "utf8")) as DevCredentialsFile;
  const acme = credentials.organizations["acme"];
  if (acme === undefined) throw new Error("no organisation");
  const { cert, key } = acme.admins.super_admin;
  const patience = { ca: readFileSync(credentials.ca, "utf8"), timeout: PATIENCE };
  const admin = mtlsFetch({ ...patience, cert: readFileSync(cert, "utf8"), key: readFileSync(key, "utf8") });
  const plain = mtlsFetch(patience);
  const tokens: Readonly<Record<Service, string | undefined>> = {
    gateway: undefined,
    governance: acme.governance.api_key,
    scheduler: acme.scheduler["system-admin"]?.token,
    storage: credentials.storage.admin_token,
  };
  // The suite ends with its runner's channel.
  process.once("disconnect", () => {
    child.once("exit", () => rmSync(dir, { recursive: true, force: true }));
    child.send("stop");
    void Promise.all([admin.close(), plain.close()]);
  });
  const ask = (service: Service): Ask =>
    asking(service === "gateway" ? admin : plain, credentials.base_urls[service] ?? "", tokens[service]);
  const seeded = new Map<Service, Promise<Seed>>();
  return {
    ask,
    seed(service) {
      const known = seeded.get(service) ?? seeds[service](ask(service));
      seeded.set(service, known);
      return known;
    },
    async longest() {
      const answer = told<{ readonly longest: number }>();
      child.send("measure");
      return (await answer).longest;
    },
  };
}

function asking(http: IdentityFetch, base: string, token: string | undefined): Ask {
  return async (method, path, body) => {
    const headers: Record<string, string> = {
      ...(token === undefined ? {} : { authorization: `Bearer ${token}` }),
      ...(body === undefined ? {} : { "content-type": "application/json" }),
    };
    try {
      const response = await http.fetch(`${base}${path}`, { method, headers, ...(body === undefined ? {} : { body }) });
      return { status: response.status, text: await response.text() };
    } catch {
      // No answer in time, or a connection that the server ended: the turn is what is asked for.
      return { status: 0, text: "" };
    }
  };
}

let server: Promise<Served> | undefined;
const measured: number[] = [];

async function measure(service: Service, id: string, route: Route): Promise<BenchResult> {
  server ??= start();
  const { ask, seed, longest } = await server;
  const { params = {}, bodies = {} } = await seed(service);
  const path = (params[id] ?? route.path).replace(/:[a-z_]+/gi, "00000000-0000-7000-8000-000000000000");
  let worst = 0;
  const statuses = new Set<number>();
  for (const body of [...(bodies[id] ?? []), ...costlyBodies(route)]) {
    let shortest = Number.POSITIVE_INFINITY;
    for (let round = 0; round < TRIES && shortest > BAR / 2; round++) {
      await longest();
      statuses.add((await ask(service)(route.method, path, body)).status);
      shortest = Math.min(shortest, await longest());
    }
    if (shortest > BAR / 2)
      process.stderr.write(`  ${shortest.toFixed(0)} ms: ${body?.length ?? 0} bytes ${body?.slice(0, 60) ?? ""}\n`);
    worst = Math.max(worst, shortest);
  }
  process.stderr.write(`${service}/${id}: ${worst.toFixed(0)} ms, answered ${[...statuses].join(" ")}\n`);
  measured.push(worst);
  return { name: `stall/${service}/${id}`, value: worst, unit: "ms", bar: `${BAR}` };
}

const rows: Bench[] = [];
for (const service of SERVICE_NAMES) {
  for (const [id, route] of Object.entries((await serviceContract(service))?.contract ?? {})) {
    // It never ends by itself.
    if (route.produces === "text/event-stream") continue;
    rows.push({ name: `stall/${service}/${id}`, run: async () => [await measure(service, id, route)] });
  }
}

/**
 * For each route of each service, as the most powerful caller of an organisation with data, the longest turn of the event loop while it handles its dearest bodies
 * (`npm run bench -- --only stall/gateway/encrypt` is one row). A turn is the serving thread's own processor time (`turnMeter`), the shortest of a few tries.
 */
export const benches: readonly Bench[] = [
  ...rows,
  {
    name: "stall/routes over the bar",
    run: async () => [
      {
        name: "stall/routes over the bar",
        unit: `of ${measured.length}`,
        bar: "0",
        value: measured.filter((value) => value > BAR).length,
      },
    ],
  },
];
