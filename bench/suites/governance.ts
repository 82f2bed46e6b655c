/** Data governance: classification, evaluation and lineage, in process. */
import { spawnSync } from "node:child_process";
import { createHash } from "node:crypto";
import { existsSync, readFileSync } from "node:fs";
import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { openLogger } from "@seneschal/adapters/logging";
import { embeddedPolicyEngine } from "@seneschal/adapters/policy";
import { openSqlParser } from "@seneschal/adapters/sql-parser";
import { systemClock, systemRandom } from "@seneschal/adapters/system";
import { governanceService } from "@seneschal/app/governance";
import { startService } from "@seneschal/app/platform";
import {
  createClassifier,
  DEFAULT_RECOGNISERS,
  DEFAULT_TIER_POLICY,
  type EvaluationCatalogue,
  evaluateOperation,
  findAlternatives,
  LineageGraph,
  recognise,
} from "@seneschal/governance";
import { serve } from "@seneschal/server-fastify";
import { type Bench, type BenchResult, quantile } from "../bench.ts";
import { ATTACKS, curve, exponentOf } from "../growth.ts";
import type { Load, LoadReport } from "../load-client.ts";
import { runClient } from "../run-client.ts";

const TEXTS = [
  "Please update the billing address with 27534 Main Street, Springfield for this card: 4111111111111111",
  "How do I check my balance on my credit card?",
  "They are not answering at 780-999-2181, my e-mail is ada.lovelace@example.org",
  "Transfer it from DE89370400440532013000 to the other account on 2024-03-15 please",
  "SELECT id, email, ssn FROM crm.customers WHERE country = 'DE' ORDER BY created_at LIMIT 100",
  "export all customer emails",
  "The host 192.168.0.17 talked to 2001:db8::17 on behalf of user 4711 for the third time this week, please have a look at the logs.",
  '{"name":"Ada Lovelace","email":"ada@example.org","phone":"+44 20 7946 0958","notes":"none"}',
];
/** A letter of about one kilobyte. */
const LETTER = TEXTS.slice(0, 4)
  .join("\n")
  .padEnd(1024, " The quick brown fox jumps over the lazy dog again and again.")
  .slice(0, 1024);

function timed(work: (i: number) => unknown, calls: number): number[] {
  for (let i = 0; i < calls / 5; i++) work(i);
  const times: number[] = [];
  for (let i = 0; i < calls; i++) {
    const start = performance.now();
    work(i);
    times.push(performance.now() - start);
  }
  return times.sort((a, b) => a - b);
}

const classify: Bench = {
  name: "governance/classify",
  async run() {
    const classifier = createClassifier({ sql: await openSqlParser() });
    const mixed = timed((i) => classifier.classify(TEXTS[i % TEXTS.length] ?? ""), 8000);
    const letter = timed(() => classifier.classify(LETTER), 2000);
    const total = mixed.reduce((a, b) => a + b, 0);
    const p50 = quantile(mixed, 0.5);
    const peer = presidio();
    const results: BenchResult[] = [
      {
        name: "classify <= 1 KB, p50",
        value: p50,
        unit: "ms",
        bar: "<= 0.3",
        ...(peer === undefined ? {} : { peer: "presidio (pattern recognisers)", peerValue: peer, ratio: p50 / peer }),
      },
      { name: "classify <= 1 KB, p99", value: quantile(mixed, 0.99), unit: "ms", bar: "<= 3" },
      { name: "classify 1 KB letter, p50", value: quantile(letter, 0.5), unit: "ms" },
      { name: "classify per second and core", value: (mixed.length * 1000) / total, unit: "/s", bar: ">= 2,500" },
    ];
    for (const kb of [1, 10, 100, 1000]) {
      const text = LETTER.repeat(kb);
      const times = timed(() => recognise(text, DEFAULT_RECOGNISERS), kb >= 1000 ? 3 : 10);
      results.push({
        name: `recognise ${kb} KB`,
        value: quantile(times, 0.5),
        unit: "ms",
        ...(kb === 100 ? { bar: "<= 60" } : {}),
      });
    }
    return results;
  },
};

/** Milliseconds per text of Presidio's pattern recognisers on the same texts, where Python has it. */
function presidio(): number | undefined {
  const script = `
import json, sys, time
from presidio_analyzer import RecognizerRegistry
registry = RecognizerRegistry(); registry.load_predefined_recognizers(languages=["en"])
texts = json.load(sys.stdin)
recognisers = [r for r in registry.recognizers if "Spacy" not in r.name]
times = []
for i in range(200):
    t = texts[i % len(texts)]; s = time.perf_counter()
    for r in recognisers: r.analyze(t, r.supported_entities, None)
    times.append((time.perf_counter() - s) * 1000)
print(sorted(times)[len(times) // 2])`;
  // `tools/install-peers.sh` makes it.
  const own = new URL("../../.peers/presidio/bin/python", import.meta.url).pathname;
  const run = spawnSync(existsSync(own) ? own : "python3", ["-c", script], {
    input: JSON.stringify(TEXTS),
    encoding: "utf8",
    timeout: 60_000,
  });
  const value = Number(run.stdout);
  return run.status === 0 && Number.isFinite(value) ? value : undefined;
}

const evaluate: Bench = {
  name: "governance/evaluate",
  async run() {
    const source = readFileSync(new URL("../../packages/app/policies/governance.rego", import.meta.url), "utf8");
    const compiled = await embeddedPolicyEngine().compile([{ name: "governance.rego", source }]);
    if (!compiled.ok) throw new Error("the shipped policy does not compile");
    const column = (tier: string) => ({ tier, tags: [] });
    const catalogue: EvaluationCatalogue = {
      resource: (id) =>
        id === "crm"
          ? {
              tier: "PROPRIETARY",
              tags: ["PII"],
              columns: { ssn: column("PROPRIETARY"), email: column("CONFIDENTIAL"), id: column("INTERNAL") },
            }
          : { tier: "INTERNAL", tags: [], columns: {}, accepts: "CONFIDENTIAL" },
      destinations: () => [{ id: "s3://warehouse", accepts: "CONFIDENTIAL" }],
      purposes: () => ["service_delivery", "fraud_prevention", "legal_obligation", "research", "statistics"],
      approvals: () => [],
    };
    const request = {
      operation_type: "EXPORT",
      source_resources: ["crm"],
      destination_resource: "s3://warehouse",
      user_context: { user_id: "u", role: "analyst", department: "d" },
    };
    const judge = (r: typeof request) => evaluateOperation(r, catalogue, compiled.policy, DEFAULT_TIER_POLICY, 0);
    const times: number[] = [];
    for (let i = 0; i < 1200; i++) {
      const start = performance.now();
      await judge(request);
      await findAlternatives(request, catalogue, DEFAULT_TIER_POLICY, judge as Parameters<typeof findAlternatives>[3], 0);
      if (i >= 200) times.push(performance.now() - start);
    }
    times.sort((a, b) => a - b);
    return [
      { name: "evaluate with alternatives, p50", value: quantile(times, 0.5), unit: "ms" },
      { name: "evaluate with alternatives, p99", value: quantile(times, 0.99), unit: "ms", bar: "<= 5" },
    ];
  },
};

const lineage: Bench = {
  name: "governance/lineage",
  async run() {
    const graph = new LineageGraph();
    const layers = 100;
    const width = 2000;
    const start = performance.now();
    // Each data set is made from five neighbours of the layer before: a hundred layers, a million edges.
    graph.batch(() => {
      for (let layer = 1; layer <= layers; layer++) {
        for (let i = 0; i < width; i++) {
          const target = `t${layer}_${i}`;
          graph.setJobLinks(
            `job_${target}`,
            [0, 1, 2, 3, 4].map((k) => ({ source: `t${layer - 1}_${(i + k) % width}`, target, operation: "x", masking: false })),
            layer,
          );
        }
      }
    });
    const built = performance.now() - start;
    const times = timed((i) => graph.walk(`t${50}_${i % width}`, i % 2 === 0 ? "upstream" : "downstream", 10), 500);
    const change = timed((i) => graph.declare({ id: `t90_${i}`, direct: { tier: "RESTRICTED", tags: ["PII"] } }, 1000), 20);
    return [
      { name: "lineage: edges", value: graph.size.edges, unit: "edges" },
      { name: "lineage: building them", value: built, unit: "ms" },
      { name: "lineage read, depth 10, p50", value: quantile(times, 0.5), unit: "ms" },
      { name: "lineage read, depth 10, p99", value: quantile(times, 0.99), unit: "ms", bar: "<= 20" },
      { name: "tier change through 10 layers, p50", value: quantile(change, 0.5), unit: "ms" },
    ];
  },
};

/** By the clock. */
const ROUNDS = 9;

/**
 * The service with its store on disk in one process, the client in another: each request is classified, recorded in the audit log and answered. Of the rounds
 * by the clock the middle one counts.
 */
const http: Bench = {
  name: "governance/http",
  async run() {
    const directory = await mkdtemp(join(tmpdir(), "seneschal-bench-"));
    const key = "bench-key";
    const definition = governanceService(directory);
    const service = await startService(
      definition,
      definition.settings.parse({
        server: {},
        api_keys: [{ id: "bench", sha256: createHash("sha256").update(key).digest("hex"), scopes: ["admin"] }],
        rate_limit: { authenticated: { limit: 1_000_000_000 } },
      }),
      {
        serve,
        listen: { port: 0 },
        clock: systemClock,
        random: systemRandom,
        log: openLogger({ level: "silent" }),
        version: "bench",
      },
    );
    const orders: Load = {
      port: Number(new URL(service.url).port),
      method: "POST",
      path: "/api/v1/classify",
      body: TEXTS.map((query) => JSON.stringify({ query, context: { user_id: "ada", department: "sales" } })),
      headers: { authorization: `Bearer ${key}` },
      connections: 64,
      milliseconds: 4000,
    };
    try {
      // The first seconds are the compiler's.
      await runClient<LoadReport>("load-client.ts", orders);
      const most = await runClient<LoadReport>("load-client.ts", orders);
      const half = await runClient<LoadReport>("load-client.ts", { ...orders, rate: 1000, rounds: ROUNDS });
      const whole = await runClient<LoadReport>("load-client.ts", { ...orders, rate: 2000, rounds: ROUNDS });
      return [
        { name: "classify over HTTP, at most", value: most.perSecond, unit: "/s" },
        { name: "classify over HTTP at 1,000/s, p99", value: half.p99, unit: "ms", bar: "<= 15" },
        { name: "classify over HTTP, asked 2,000/s", value: whole.perSecond, unit: "/s", bar: ">= 1,980" },
        { name: "classify over HTTP at 2,000/s, p50", value: whole.p50, unit: "ms" },
        { name: "classify over HTTP at 2,000/s, p99", value: whole.p99, unit: "ms", bar: "<= 8" },
        { name: "classify over HTTP at 2,000/s, p99, quietest round", value: whole.quietestP99, unit: "ms" },
      ];
    } finally {
      await service.stop();
      await rm(directory, { recursive: true, force: true });
    }
  },
};

/** How the time of all recognisers together grows up to 1 MB of a text that keeps them busy: an exponent of 1 is linear. */
const growth: Bench = {
  name: "governance/growth",
  run() {
    const sizes = [64, 256, 1024].map((kb) => kb * 1024);
    const grown = ATTACKS.map(([name, unit]) => {
      const points = curve(DEFAULT_RECOGNISERS, unit, sizes);
      return { name, most: points.at(-1)?.ms ?? 0, exponent: exponentOf(points) ?? 1 };
    });
    const steepest = grown.reduce((a, b) => (b.exponent > a.exponent ? b : a));
    const slowest = grown.reduce((a, b) => (b.most > a.most ? b : a));
    return Promise.resolve([
      {
        name: `growth exponent, steepest of ${grown.length} (${steepest.name})`,
        value: steepest.exponent,
        unit: "",
        bar: "<= 1.2",
      },
      { name: `1 MB, slowest (${slowest.name})`, value: slowest.most, unit: "ms" },
    ]);
  },
};

export const benches: readonly Bench[] = [classify, growth, http, evaluate, lineage];
