import { type ChildProcess, spawn, spawnSync } from "node:child_process";
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { expect, test, vi } from "vitest";
import { etcdInstalled, startEtcdCluster } from "../../../../tools/etcd-cluster.ts";
import { ownAddress } from "../../../../tools/own-address.ts";
import { type PostgresServer, postgresBinaries, startPostgres } from "../../../../tools/postgres-cluster.ts";
import { alertRules, dashboardQueries, familiesOf, freshMetrics, metricsOf, ruleFiles } from "../compose/watched.ts";
import { alertCases, furtherCases } from "./alert-cases.ts";

/** On the path, or named: Debian has it in the package `prometheus`. */
const promtool = process.env["PROMTOOL"] ?? "promtool";
const installed = spawnSync(promtool, ["--version"]).status === 0;
/** Debian's package of the same name; elsewhere it is `postgres_exporter`. */
const exporter = ["prometheus-postgres-exporter", "postgres_exporter"].find(
  (program) => spawnSync(program, ["--version"]).status === 0,
);

const WAIT = { timeout: 60_000 };

/** What promtool says of a file; its exit code is 0 when it has nothing against it. */
function promtoolSays(command: readonly string[], content: unknown): { readonly status: number | null; readonly said: string } {
  const folder = mkdtempSync(join(tmpdir(), "alerts-"));
  const file = join(folder, "content.json");
  writeFileSync(file, JSON.stringify(content));
  const { status, stdout, stderr } = spawnSync(promtool, [...command, file], { encoding: "utf8" });
  rmSync(folder, { recursive: true });
  return { status, said: stdout + stderr };
}

/** After so many minutes of these series, so many alerts fire; of one name or of any. */
function judged(minutes: number, series: Readonly<Record<string, string>>, firing: number, alert?: string) {
  const name = alert === undefined ? "" : `,alertname="${alert}"`;
  return {
    interval: "1m",
    input_series: Object.entries(series).map(([series, values]) => ({ series, values })),
    promql_expr_test: [
      {
        expr: `count(ALERTS{alertstate="firing"${name}}) or vector(0)`,
        eval_time: `${minutes}m`,
        exp_samples: [{ labels: "{}", value: firing }],
      },
    ],
  };
}

/** The samples of Prometheus text as series that stay as they are for `minutes`, of a target. */
function standing(text: string, job: string, minutes: number): Record<string, string> {
  const series: Record<string, string> = { [`up{job="${job}",instance="${job}:1"}`]: `1x${minutes}` };
  for (const [, name = "", labels = "", value = ""] of text.matchAll(/^([a-zA-Z_:][\w:]*)(?:\{(.*)\})? (\S+)$/gm)) {
    const own = labels === "" ? "" : `,${labels.replace(/,$/, "")}`;
    // What is free where the tests run is not the instance's, nor how busy it is there.
    const ofMachine = name.endsWith("_disk_free_bytes") ? 2 ** 36 : name.startsWith("nodejs_eventloop_lag") ? 0.01 : undefined;
    const told = ofMachine !== undefined ? String(ofMachine) : value === "Nan" ? "NaN" : value;
    if (told === "NaN" || told === "+Inf") continue;
    series[`${name}{job="${job}",instance="${job}:1"${own}}`] = `${told}x${minutes}`;
  }
  return series;
}

test("every alert has a case in which it fires and one in which it does not", () => {
  expect(Object.keys(alertCases).sort()).toEqual(alertRules.map(({ alert }) => alert).sort());
});

// By file, since promtool judges every rule that it is given at every step; those that take days in longer ones.
test.skipIf(!installed).each(ruleFiles.map((file) => [file.slice(file.lastIndexOf("/") + 1), file]))(
  "each alert of %s fires when it should, and only then (promtool)",
  (_, file) => {
    const mine = alertRules.filter((rule) => rule.file === file).map(({ alert }) => [alert, alertCases[alert]] as const);
    for (const long of [false, true]) {
      const further = furtherCases.flatMap(([name, ...rest]) =>
        mine.some(([alert]) => alert === name) ? [[name, rest] as const] : [],
      );
      const tests = [...mine, ...further].flatMap(([alert, [minutes, bad, good] = [0, {}, {}]]) =>
        minutes > 600 === long ? [judged(minutes, bad, 1, alert), judged(minutes, good, 0, alert)] : [],
      );
      const evaluation_interval = long ? "20m" : "1m";
      const { status, said } = promtoolSays(["test", "rules"], { rule_files: [file], evaluation_interval, tests });
      expect(status, said).toBe(0);
    }
  },
);

test.skipIf(!installed)("every query of the dashboards is PromQL, and so is the configuration to begin with (promtool)", () => {
  const rules = dashboardQueries.map(({ expr }, at) => ({ record: `panel:${at}`, expr }));
  expect(rules.length).toBeGreaterThan(100);
  const { status, said } = promtoolSays(["check", "rules"], { groups: [{ name: "dashboards", rules }] });
  expect(status, said).toBe(0);
  const config = new URL("../../../../ops/prometheus/prometheus.yml", import.meta.url).pathname;
  const checked = spawnSync(promtool, ["check", "config", "--syntax-only", config], { encoding: "utf8" });
  expect(checked.status, checked.stdout + checked.stderr).toBe(0);
});

test.skipIf(!installed)("nothing fires of fresh services that are left alone for a day (promtool)", async () => {
  const minutes = 24 * 60;
  const series = Object.entries(await freshMetrics()).flatMap(([name, text]) => Object.entries(standing(text, name, minutes)));
  expect(series.length).toBeGreaterThan(500);
  const tests = [90, minutes].map((until) => judged(until, Object.fromEntries(series), 0));
  const { status, said } = promtoolSays(["test", "rules"], { rule_files: ruleFiles, evaluation_interval: "5m", tests });
  expect(status, said).toBe(0);
});

/** What is asked of a peer, it tells; and its fresh metrics raise nothing. */
function expectTold(text: string, prefix: RegExp, job: string): void {
  const asked = [...alertRules, ...dashboardQueries].flatMap(({ expr }) => metricsOf(expr)).filter((name) => prefix.test(name));
  expect(asked.length).toBeGreaterThan(8);
  const told = familiesOf(text);
  expect([...new Set(asked.filter((name) => !told.has(name)))]).toEqual([]);
  if (!installed) return;
  const tests = [judged(90, standing(text, job, 90), 0)];
  const { status, said } = promtoolSays(["test", "rules"], { rule_files: ruleFiles, evaluation_interval: "1m", tests });
  expect(status, said).toBe(0);
}

test.skipIf(!etcdInstalled())("etcd tells what its alerts and its dashboard ask, and fresh members raise nothing", async () => {
  const cluster = await startEtcdCluster();
  try {
    await cluster.leader();
    expectTold(await (await fetch(`${cluster.endpoints[0]}/metrics`)).text(), /^(?:etcd|grpc_server)_/, "etcd");
  } finally {
    await cluster.destroy();
  }
});

test.skipIf(postgresBinaries() === undefined || exporter === undefined)(
  "PostgreSQL with a replica tells what its alerts and its dashboard ask, and a fresh server raises nothing (skipped without postgres_exporter)",
  async () => {
    const postgres = await startPostgres();
    const { host: primary, port: at } = postgres.address;
    const copy = `pg_basebackup -h ${primary} -p ${at} -U seneschal -D "$PGDATA" -R -X stream --checkpoint=fast --no-sync`;
    let replica: PostgresServer | undefined;
    let telling: ChildProcess | undefined;
    try {
      replica = await startPostgres({}, copy);
      const { host, port } = await ownAddress();
      telling = spawn(exporter as string, [`--web.listen-address=${host}:${port}`], {
        env: { ...process.env, DATA_SOURCE_NAME: `${postgres.url}?sslmode=disable` },
        stdio: "ignore",
      });
      const told = async () => (await fetch(`http://${host}:${port}/metrics`)).text();
      const streams = /^pg_stat_replication_pg_wal_lsn_diff\{.*state="streaming".*\} \d/m;
      await vi.waitUntil(async () => streams.test(await told().catch(() => "")), WAIT);
      const text = await told();
      expectTold(text, /^pg_/, "postgres");
    } finally {
      telling?.kill();
      await replica?.destroy();
      await postgres.destroy();
    }
  },
);
