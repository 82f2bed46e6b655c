import { type Bench, type BenchResult, quantile } from "../bench.ts";
import { openBenchServer } from "../gateway-server.ts";

const KIB = Buffer.alloc(1024, 7).toString("base64");
const milliseconds = Number(process.env["CALL_MS"] ?? 2000);
/** The machine is not equally fast from one second to the next: every round takes its own maximum. The middle one counts, the quietest stands beside it. */
const ROUNDS = 9;
/** `CALLS=encrypt,activity` measures these alone. */
const chosen = process.env["CALLS"]?.split(",");

/** The ten commonest calls over HTTPS with mutual TLS, each at its most, and by the clock at 70 % of that. */
const calls: Bench = {
  name: "gateway calls over HTTPS",
  async run() {
    const server = await openBenchServer();
    const base = "/api/v1";
    const workspace = `${base}/workspaces/${server.workspace}`;
    const json = JSON.stringify;
    const context = { purpose: "bench" };
    const sealed = await server.load({
      method: "POST",
      path: `${workspace}/encrypt`,
      body: json({ plaintext: KIB, context }),
      milliseconds: 300,
      keepLast: true,
    });
    const letter = { recipient_org_id: "acme", recipient_id: server.admin, subject: "bench {n}", body: KIB };
    const question = {
      actor: "a",
      role: "auditor",
      operation: "encrypt",
      workspace: server.workspace,
      purpose: "",
      metadata: {},
    };
    const list: readonly (readonly [name: string, method: string, path: string, body?: string])[] = [
      ["encrypt", "POST", `${workspace}/encrypt`, json({ plaintext: KIB, context })],
      ["decrypt", "POST", `${workspace}/decrypt`, json({ ciphertext: JSON.parse(sealed.last ?? "{}").ciphertext, context })],
      ["get-workspace", "GET", workspace],
      ["list-workspaces", "GET", `${base}/workspaces?limit=50`],
      ["create-workspace", "POST", `${base}/workspaces`, json({ name: "bench {n}" })],
      ["evaluate-policy", "POST", `${base}/policies/evaluate`, json(question)],
      ["send-message", "POST", `${base}/messages`, json(letter)],
      ["list-messages", "GET", `${base}/messages?limit=50`],
      ["list-audit", "GET", `${base}/audit?limit=100`],
      ["activity", "GET", `${base}/activity?limit=100`],
    ];
    const results: BenchResult[] = [];
    let late = 0;
    try {
      for (const [name, method, path, body] of list.filter(([name]) => chosen?.includes(name) ?? true)) {
        const call = { method, path, milliseconds, ...(body === undefined ? {} : { body }) };
        const rounds: { readonly most: number; readonly p50: number; readonly p99: number }[] = [];
        for (let round = 0; round < ROUNDS; round++) {
          const most = await server.load(call);
          // Longer, so that one pause in the first second is not the hundredth of all calls.
          const steady = await server.load({ ...call, milliseconds: 2 * milliseconds, rate: most.perSecond * 0.7 });
          late = Math.max(late, steady.lateP99);
          rounds.push({ most: most.perSecond, p50: steady.p50, p99: steady.p99 });
        }
        const sorted = (of: keyof (typeof rounds)[0]) => rounds.map((round) => round[of]).sort((a, b) => a - b);
        const middle = (of: Parameters<typeof sorted>[0]): number => quantile(sorted(of), 0.5);
        const what = `gateway-call/${name}`;
        results.push(
          { name: `${what}-max`, value: middle("most"), unit: "/s" },
          { name: `${what}-p50-at-70%`, value: middle("p50"), unit: "ms" },
          { name: `${what}-p99-at-70%`, value: middle("p99"), unit: "ms", bar: "<= 25 ms" },
          { name: `${what}-p99-at-70%-quietest`, value: quantile(sorted("p99"), 0), unit: "ms" },
        );
      }
    } finally {
      await server.close();
    }
    return [...results, { name: "gateway-call/load-generator-late-p99", value: late, unit: "ms" }];
  },
};

export const benches: readonly Bench[] = [calls];
