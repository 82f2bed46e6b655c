import { readdirSync, readFileSync } from "node:fs";
import { describe, expect, it } from "vitest";

const root = new URL("../../", import.meta.url).pathname;
const read = (path: string): string => readFileSync(`${root}${path}`, "utf8");
const sources = readdirSync(`${root}packages`)
  .flatMap((name) => {
    const folder = `packages/${name}/src`;
    const files = readdirSync(root + folder, { recursive: true, encoding: "utf8" });
    return files.map((file) => `${folder}/${file}`);
  })
  .filter((path) => path.endsWith(".ts") && !path.endsWith(".d.ts"));

/** Without comments, whose words call nothing. */
const code = (path: string): string => read(path).replace(/\/\*[\s\S]*?\*\/|^\s*\/\/.*$/gm, "");

/** The bound of one call, one connection or one end: whoever waits for it hears of it, nothing goes on behind it. */
const bounds = [
  "packages/adapters/src/audit-sinks/open-syslog-sink.ts",
  "packages/adapters/src/etcd/etcd-client.ts",
  "packages/adapters/src/etcd/open-etcd-lease.ts",
  "packages/adapters/src/runner/local-runner.ts",
  "packages/app/src/gateway/partners/edges.ts",
  "packages/app/src/platform/health.ts",
  "packages/app/src/platform/phases.ts",
  "packages/app/src/storage/data/memory-budget.ts",
  "packages/cli/src/process-host.ts",
  "packages/server-grpc/src/listen-grpc.ts",
  "packages/server-grpc/src/storage-server.ts",
  "packages/server-s3/src/serve-s3.ts",
  "packages/adapters/src/replicas/open-s3-replicas.ts",
  "packages/app/src/storage/within.ts",
  "packages/server-nfs/src/serve-nfs.ts",
  "packages/server-node/src/listen.ts",
  "packages/server-node/src/proxy-protocol.ts",
];

/** Waits within one piece of work: its end, with a failure or without, is that work's. */
const waits = [
  "packages/adapters/src/log/settle-append.ts",
  "packages/adapters/src/log/circuit-breaker.ts",
  "packages/adapters/src/postgres/connect.ts",
  "packages/adapters/src/postgres/migration/open-migratable.ts",
  "packages/app/src/platform/wait-for-needs.ts",
  "packages/app/src/storage/jobs/throttle.ts",
  "packages/cli/src/commands/ceremony.ts",
];

/** What runs by time and is no step of a service: why a failure of it is seen all the same. */
const others: Readonly<Record<string, string>> = {
  "packages/adapters/src/postgres/wake-up.ts":
    "wakes readers, who read by sequence; it asks the database, whose health is a check of its own",
  "packages/adapters/src/etcd/watch-key.ts":
    "wakes readers, who read by sequence; the log's circuit breaker and health see a cluster that is away",
  "packages/adapters/src/worker-pool/open-worker-pool.ts": "looks after the threads of its pool: *_workers_stuck and health tell",
  "packages/server-node/src/processes/serve-by-processes.ts":
    "starts a process in front anew that ended before it served: *_server_processes and health tell",
  "packages/app/src/compose/watch-files.ts":
    "the process looks for changed files; a reload that fails is logged, what is in force stays",
  "packages/app/src/storage/ui/dashboard-script.ts": "runs in a browser",
};

/** Where a service's background work is begun. */
const port = ["packages/app/src/platform/background.ts", "packages/app/src/platform/repeat.ts"];

describe("whatever services do by time", () => {
  it("is begun by one port: nothing else has a timer, but for bounds and waits of single calls", () => {
    const timed = sources.filter((path) => /\bset(?:Timeout|Interval)\s*\(|\.setTimeout\(|node:timers/.test(code(path)));
    const known = [...bounds, ...waits, ...Object.keys(others), ...port];
    // These give way to other work within a piece of it, or hand a bound to a socket of the host.
    const turns = [
      "packages/adapters/src/system/next-turn.ts",
      "packages/app/src/gateway/workspaces/workspaces/sealed-keys.ts",
      "packages/adapters/src/vault/vault-connection.ts",
    ];
    expect(timed.filter((path) => !turns.includes(path)).sort()).toEqual([...known].sort());
    for (const path of [...bounds, ...waits]) expect([path, /setInterval/.test(code(path))]).toEqual([path, false]);
  });

  it("fails by a name that the operating manual explains, and no name is explained that nothing has", () => {
    const named = sources
      .filter((path) => path.startsWith("packages/app/src/"))
      .flatMap((path) => [
        ...code(path).matchAll(/\b(?:background|steps)\s*\.(?:step|each|every|soon)\(\s*"([^"]+)"/g),
        ...code(path).matchAll(/\b(?:again|atOnce|onError|leading|expire)\(\s*"([^"]+)"/g),
        // One for each of several: `${name}` is NAME in the manual.
        ...code(path).matchAll(/\b(?:background\s*\.(?:step|every|soon)\(\s*|step: )`([^`]+)`/g),
      ])
      .map(([, name = ""]) => name.replace(/\$\{(\w+)\}/g, (_, variable: string) => variable.toUpperCase()));
    // What one node of a storage cluster does for all is a table by name.
    const table =
      /const coordination[^{]*\{([\s\S]*?)\n {2}\};/.exec(code("packages/app/src/storage/jobs/open-rounds.ts"))?.[1] ?? "";
    const coordination = [...table.matchAll(/^ {4}(?:async )?(?:"([^"]+)"|(\w+))(?:\(|:)/gm)].map(
      ([, text, word]) => text ?? word ?? "",
    );
    expect(coordination.length).toBeGreaterThan(8);
    named.push(...coordination);
    const manual = /^## Background work$([\s\S]*?)^## /m.exec(read("docs/operating.md"))?.[1] ?? "";
    const explained = [...manual.matchAll(/`([^`]+)`/g)].map(([, name]) => name as string).filter((name) => !name.includes("_"));
    expect(new Set(explained)).toEqual(new Set(named));
  });

  it("raises an alert when a step fails, whichever the service", () => {
    expect(read("ops/prometheus/services-alerts.yaml")).toContain(
      '(gateway|governance|scheduler|storage)_background_failing"} == 1',
    );
    expect(read("ops/prometheus/storage-alerts.yaml")).toContain("store_background_failing == 1");
  });
});
