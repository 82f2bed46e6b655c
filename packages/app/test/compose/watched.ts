import { readdirSync, readFileSync } from "node:fs";
import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { openLogger } from "@seneschal/adapters/logging";
import { systemRandom } from "@seneschal/adapters/system";
import { serve } from "@seneschal/server-fastify";
import { serveS3 } from "@seneschal/server-s3";
import { parse } from "yaml";
import { prepareData } from "../../src/compose/prepare-data.ts";
import { processSettings } from "../../src/compose/process-settings.ts";
import { startProcess } from "../../src/compose/start-process.ts";

/** An alert of `ops/prometheus`. */
export interface AlertRule {
  readonly file: string;
  readonly alert: string;
  readonly expr: string;
  readonly labels: Readonly<Record<string, string>>;
  readonly annotations: Readonly<Record<string, string>>;
}

const ops = new URL("../../../../ops/", import.meta.url);

/** Where the rules lie. */
export const ruleFiles: readonly string[] = readdirSync(new URL("prometheus/", ops))
  .filter((name) => name.endsWith("-alerts.yaml"))
  .map((name) => new URL(`prometheus/${name}`, ops).pathname);

/** Every alert that is shipped. */
export const alertRules: readonly AlertRule[] = ruleFiles.flatMap((file) =>
  (parse(readFileSync(file, "utf8")) as { groups: { rules: AlertRule[] }[] }).groups.flatMap(({ rules }) =>
    rules.map((rule) => ({ ...rule, file })),
  ),
);

/** Every query of the dashboards that are shipped, by the name of the dashboard. */
export const dashboardQueries: readonly { readonly board: string; readonly expr: string }[] = readdirSync(
  new URL("grafana/", ops),
).flatMap((board) => {
  const { panels } = JSON.parse(readFileSync(new URL(`grafana/${board}`, ops), "utf8")) as {
    panels: { targets?: { expr: string }[] }[];
  };
  return panels.flatMap(({ targets = [] }) => targets.map(({ expr }) => ({ board, expr })));
});

const words = new Set(["and", "or", "unless", "bool", "offset", "inf", "nan"]);

/** The metrics that a PromQL expression asks for; of a name by expression, each that it stands for. */
export function metricsOf(expr: string): readonly string[] {
  const byExpression = [...expr.matchAll(/__name__=~"\(([^)]*)\)([^"]*)"/g)].flatMap(([, first = "", rest = ""]) =>
    first.split("|").map((prefix) => prefix + rest),
  );
  const bare = expr
    .replace(/\{[^}]*\}|\[[^\]]*\]|"[^"]*"/g, " ")
    .replace(/\b(?:by|without|on|ignoring|group_left|group_right)\s*\([^)]*\)/g, " ");
  const named = [...bare.matchAll(/(?<![\w.])[a-z_:][\w:]*(?!\w)(?!\s*\()/gi)].map(([name]) => name);
  return [...new Set([...byExpression, ...named.filter((name) => !words.has(name.toLowerCase()))])];
}

/** The families that Prometheus text tells of, with the series that they stand for. */
export function familiesOf(text: string): ReadonlySet<string> {
  const found = [...text.matchAll(/^# TYPE (\S+) (\S+)$/gm)];
  return new Set(
    found.flatMap(([, name = "", type]) =>
      type === "histogram" || type === "summary" ? [name, `${name}_bucket`, `${name}_sum`, `${name}_count`] : [name],
    ),
  );
}

/** What all four services tell of themselves right after their first start, on embedded defaults with one audit sink each. */
export async function freshMetrics(): Promise<Readonly<Record<string, string>>> {
  const dir = await mkdtemp(join(tmpdir(), "seneschal-watched-"));
  await prepareData(dir, systemRandom);
  const sink = (name: string) => ({ audit_sinks: { file: { kind: "file", path: join(dir, `${name}.jsonl`) } } });
  const server = { server: { port: 0 } };
  const config = processSettings.parse({
    data_dir: dir,
    gateway: { ...server, ...sink("gateway") },
    governance: { ...server, ...sink("governance") },
    scheduler: server,
    storage: { ...server, ...sink("storage"), s3: { port: 0 } },
  });
  const running = await startProcess(config, { serve, serveS3, log: openLogger({ level: "silent" }), version: "test" });
  try {
    const texts = running.services.map(async ({ name, url }) => [name, await (await fetch(`${url}/metrics`)).text()] as const);
    return Object.fromEntries(await Promise.all(texts));
  } finally {
    await running.stop();
    await rm(dir, { recursive: true, force: true });
  }
}
