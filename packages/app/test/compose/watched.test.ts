import { readFileSync } from "node:fs";
import { beforeAll, describe, expect, it } from "vitest";
import { alertRules, dashboardQueries, familiesOf, freshMetrics, metricsOf } from "./watched.ts";

const docs = new URL("../../../../docs/", import.meta.url);
const runbooks = readFileSync(new URL("runbooks.md", docs), "utf8");
/** What these are asked of is no service of ours: the suites against real peers ask it. */
const peers = /^(?:pg|etcd|grpc_server)_/;
/** Prometheus' own word about whom it asks. */
const own = new Set(["up"]);

describe("what is watched", () => {
  let told: ReadonlySet<string>;
  let texts: Readonly<Record<string, string>>;
  beforeAll(async () => {
    texts = await freshMetrics();
    told = new Set(Object.values(texts).flatMap((text) => [...familiesOf(text)]));
  });

  it("by an alert or a dashboard is told by a service from its first start", () => {
    const asked = [...alertRules, ...dashboardQueries].flatMap(({ expr }) => metricsOf(expr));
    const missing = asked.filter((name) => !told.has(name) && !peers.test(name) && !own.has(name));
    expect([...new Set(missing)]).toEqual([]);
  });

  it("has a name that begins with what it is of, as docs/operating.md says", () => {
    for (const [service, text] of Object.entries(texts)) {
      const prefixes = [`${service}_`, "process_", "nodejs_", ...(service === "storage" ? ["store_"] : [])];
      expect([...familiesOf(text)].filter((name) => !prefixes.some((prefix) => name.startsWith(prefix)))).toEqual([]);
    }
    const page = readFileSync(new URL("operating.md", docs), "utf8");
    for (const prefix of ["gateway_", "governance_", "scheduler_", "storage_", "store_", "process_", "nodejs_"])
      expect(page).toContain(`\`${prefix}\``);
  });

  it("and is 1 while something is wrong has an alert", () => {
    const judged = new Set(alertRules.flatMap(({ expr }) => metricsOf(expr)));
    const gauges = Object.values(texts).flatMap((text) =>
      [...text.matchAll(/^# HELP (\S+) 1 (?:while|when|if) /gm)].map(([, name = ""]) => name),
    );
    expect(gauges.length).toBeGreaterThan(10);
    expect(gauges.filter((name) => !judged.has(name))).toEqual([]);
  });

  it("of each service has a dashboard, which shows each of its metrics that an alert judges", () => {
    const judged = new Set(alertRules.flatMap(({ expr }) => metricsOf(expr)));
    for (const [service, text] of Object.entries(texts)) {
      const prefixes = service === "storage" ? ["storage_", "store_"] : [`${service}_`];
      const ours = [...judged].filter((name) => prefixes.some((prefix) => name.startsWith(prefix)));
      expect(ours.length, text.slice(0, 100)).toBeGreaterThan(8);
      const board = dashboardQueries.filter(({ board }) => board === `${service}.json`);
      const shown = new Set(board.flatMap(({ expr }) => metricsOf(expr)));
      expect([service, ours.filter((name) => !shown.has(name))]).toEqual([service, []]);
    }
  });

  it("names every metric of an expression, and no function, label or number of it", () => {
    expect(
      metricsOf(
        'histogram_quantile(0.99, sum by (le, job) (rate({__name__=~"(a|b)_x_bucket",route="y"}[5m]))) > 2 * 2^30 and on (c) z_total{l="m_n"} offset 36h',
      ),
    ).toEqual(["a_x_bucket", "b_x_bucket", "z_total"]);
  });
});

describe("a runbook", () => {
  const sections = [...runbooks.matchAll(/^### (\w+)\n(?!\n)(.+)$/gm)].map(([, name]) => name);

  it("stands behind every alert, which links to it, and behind nothing else", () => {
    expect(alertRules.length).toBeGreaterThan(60);
    expect(sections).toEqual([...new Set(sections)]);
    expect([...sections].sort()).toEqual(alertRules.map(({ alert }) => alert).sort());
    for (const { alert, annotations, labels } of alertRules) {
      expect(annotations["runbook_url"]).toBe(`https://seneschal.example/docs/runbooks.md#${alert.toLowerCase()}`);
      expect(labels["severity"]).toMatch(/^(?:warning|critical)$/);
    }
  });

  it("links to pages and headings that are there, and names no alert that is not", () => {
    for (const [, page = "", anchor] of runbooks.matchAll(/\]\(([^)#]+)(?:#([^)]+))?\)/g)) {
      if (!page.endsWith(".md")) continue;
      const headings = [...readFileSync(new URL(page, docs), "utf8").matchAll(/^#+ (.+)$/gm)].map(([, text = ""]) =>
        text
          .toLowerCase()
          .replace(/[^\w\- ]/g, "")
          .replaceAll(" ", "-"),
      );
      if (anchor !== undefined) expect(headings, page).toContain(anchor);
    }
    const named = [...runbooks.matchAll(/`([A-Z][a-z]+(?:[A-Z][a-z]+)+)`/g)].map(([, name]) => name as string);
    expect(named.filter((name) => !sections.includes(name) && name !== "InsufficientStorage" && name !== "SlowDown")).toEqual([]);
  });
});
