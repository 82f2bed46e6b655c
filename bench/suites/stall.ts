import { type ChildProcess, fork } from "node:child_process";
import { mkdtempSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { type IdentityFetch, mtlsFetch } from "@seneschal/adapters/http";
import type { DevCredentialsFile } from "@seneschal/app";
import type { Contract, Route } from "@seneschal/contract";
import { SERVICE_NAMES, serviceContract } from "../../tools/service-contracts.ts";
import { type Bench, type BenchResult, serverOptions } from "../bench.ts";
import { dearestBody } from "../dearest-body.ts";

const BAR = 50;
/** A request that is not answered by then is left alone; its pause is counted all the same. */
const PATIENCE = 10_000;
const ONE_MIB = 1 << 20;

/** Bodies that cost more than the longest that a schema allows, by operation id. */
const DEAR: Readonly<Record<string, readonly unknown[]>> = {
  generateCrk: [{ total_shares: 255, threshold: 255 }],
  startGenerationCeremony: [{ total_shares: 255, threshold: 255 }],
  validatePolicy: [
    {
      rego: `package p\n\nallow if input.a == 0${Array.from({ length: 9_000 }, (_, i) => ` else := false if input.a == ${i}`)
        .join("")
        .slice(0, 250_000)
        .replace(/ else(?!.* else).*$/, "")}\n`,
    },
    { rego: `package p\n\nx := ${"[".repeat(400)}1${"]".repeat(400)}\n` },
  ],
  classify: [
    { query: `SELECT ${"f(".repeat(45)}`, context: {} },
    { query: `SELECT ${"f(".repeat(45)}`, context: { dialect: "mssql" } },
    { query: "ada@example.org 4111 1111 1111 1111 ".repeat(14_000), context: {} },
    {
      query: JSON.stringify(Array.from({ length: 8000 }, (_, i) => ({ email: `a${i}@example.org`, ssn: "536-22-8726" }))),
      context: {},
    },
  ],
  ingestLineage: [lineageEvent({ query: `INSERT INTO t SELECT ${"f(".repeat(45)}`, dialect: "mssql" })],
  ingestLineageBatch: [
    Array.from({ length: 100 }, () => lineageEvent({ query: "INSERT INTO out SELECT a, b FROM in JOIN x ON a = b" })),
  ],
  evaluate: [
    {
      operation_type: "read",
      source_resources: Array.from({ length: 1000 }, (_, i) => `resource-${i}`),
      user_context: { user_id: "u", roles: ["analyst"] },
    },
  ],
};

function lineageEvent(sql: { readonly query: string; readonly dialect?: string }) {
  const facet = { _producer: "https://example.org/", _schemaURL: "https://openlineage.io/spec/facets/1-0-0/SQLJobFacet.json" };
  return {
    eventType: "COMPLETE",
    eventTime: "2026-01-01T00:00:00Z",
    producer: "https://example.org/",
    schemaURL: "https://openlineage.io/spec/2-0-2/OpenLineage.json#/$defs/RunEvent",
    run: { runId: "00000000-0000-7000-8000-000000000000" },
    job: { namespace: "n", name: "j", facets: { sql: { ...facet, ...sql } } },
    inputs: [{ namespace: "n", name: "in" }],
    outputs: [{ namespace: "n", name: "out" }],
  };
}

interface Served {
  readonly credentials: DevCredentialsFile;
  /** The longest pause since the last call, in milliseconds. */
  longest(): Promise<number>;
  stop(): Promise<void>;
}

async function start(dataDir: string): Promise<Served> {
  const child: ChildProcess = fork(new URL("../stall-server.ts", import.meta.url).pathname, [dataDir], {
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
  const { credentials } = await told<{ readonly credentials: string }>();
  return {
    credentials: JSON.parse(readFileSync(credentials, "utf8")) as DevCredentialsFile,
    async longest() {
      const answer = told<{ readonly longest: number }>();
      child.send("measure");
      return (await answer).longest;
    },
    stop: () =>
      new Promise((resolve) => {
        child.removeAllListeners();
        child.once("exit", () => resolve());
        child.send("stop");
      }),
  };
}

/** Bodies to try: those that are known to be dear, and the longest that the schema allows. */
function bodiesOf(id: string, route: Route): readonly (string | undefined)[] {
  if (route.body === undefined) return [undefined];
  const limit = route.bodyLimit ?? ONE_MIB;
  const longest = JSON.stringify(dearestBody(route.body, limit * 0.9));
  // Not what it takes, but parsed before it is refused: many small values to the limit, and nesting.
  const small = `[${"1,".repeat(limit / 2 - 8)}1]`;
  return [...(DEAR[id] ?? []).map((body) => JSON.stringify(body)), longest.length <= limit ? longest : "{}", small];
}

/** For each route of each service, as the most powerful caller of an organisation, the longest pause of the event loop while it handles its dearest bodies. */
export const benches: readonly Bench[] = [
  {
    name: "stall",
    async run(): Promise<readonly BenchResult[]> {
      const dir = mkdtempSync(join(tmpdir(), "seneschal-stall-"));
      const server = await start(dir);
      const { credentials } = server;
      const acme = credentials.organizations["acme"];
      if (acme === undefined) throw new Error("no organisation");
      const { cert, key } = acme.admins.super_admin;
      const ca = readFileSync(credentials.ca, "utf8");
      const patience = { ca, timeout: PATIENCE };
      const admin = mtlsFetch({ ...patience, cert: readFileSync(cert, "utf8"), key: readFileSync(key, "utf8") });
      const plain = mtlsFetch(patience);
      const tokens: Readonly<Record<string, string>> = {
        governance: acme.governance.api_key,
        scheduler: acme.scheduler["system-admin"]?.token ?? "",
        storage: credentials.storage.admin_token,
      };
      const results: BenchResult[] = [];
      try {
        for (const service of SERVICE_NAMES) {
          const contract: Contract = (await serviceContract(service))?.contract ?? {};
          for (const [id, route] of Object.entries(contract)) {
            // It never ends by itself.
            if (typeof route.produces === "string" && route.produces === "text/event-stream") continue;
            const path = route.path.replace(/:[a-z_]+/gi, "00000000-0000-7000-8000-000000000000");
            let worst = 0;
            for (const body of bodiesOf(id, route)) {
              // Twice, and the shorter one: a pause that the machine made does not come back.
              const pauses: number[] = [];
              for (let round = 0; round < 2; round++) {
                await server.longest();
                await call(
                  `${credentials.base_urls[service]}${path}`,
                  route,
                  body,
                  tokens[service],
                  service === "gateway" ? admin : plain,
                );
                pauses.push(await server.longest());
              }
              worst = Math.max(worst, Math.min(...pauses));
            }
            process.stderr.write(`${service}/${id}: ${worst.toFixed(0)} ms\n`);
            results.push({ name: `stall/${service}/${id}`, value: worst, unit: "ms", bar: `${BAR}` });
          }
        }
      } finally {
        await Promise.all([admin.close(), plain.close()]);
        await server.stop();
        rmSync(dir, { recursive: true, force: true });
      }
      const over = results.filter(({ value }) => value > BAR).length;
      return [
        ...results.sort((a, b) => b.value - a.value),
        { name: "stall/routes over the bar", value: over, unit: `of ${results.length}`, bar: "0" },
      ];
    },
  },
];

async function call(
  url: string,
  route: Route,
  body: string | undefined,
  token: string | undefined,
  http: IdentityFetch,
): Promise<void> {
  const headers: Record<string, string> = {
    ...(token === undefined ? {} : { authorization: `Bearer ${token}` }),
    ...(body === undefined ? {} : { "content-type": "application/json" }),
  };
  try {
    const response = await http.fetch(url, { method: route.method, headers, ...(body === undefined ? {} : { body }) });
    await response.arrayBuffer();
  } catch {
    // No answer, or a connection that the server ended: the pause is what is asked for.
  }
}
