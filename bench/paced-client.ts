/** A process that sends requests at a fixed rate over kept-alive connections and reports how long the answers took, from when each was due. */
import { Agent, request } from "node:http";

interface Load {
  readonly port: number;
  readonly path: string;
  readonly bodies: readonly string[];
  readonly headers: Readonly<Record<string, string>>;
  readonly perSecond: number;
  readonly milliseconds: number;
}

const load = await new Promise<Load>((resolve) => process.once("message", (message) => resolve(message as Load)));
const agent = new Agent({ keepAlive: true, maxSockets: 64 });

function send(body: string): Promise<void> {
  return new Promise((resolve, reject) => {
    const headers = { ...load.headers, "content-type": "application/json", "content-length": Buffer.byteLength(body) };
    const sent = request({ agent, host: "127.0.0.1", port: load.port, method: "POST", path: load.path, headers }, (response) => {
      const bad = (response.statusCode ?? 500) >= 400;
      response.on("end", () => (bad ? reject(new Error(`status ${response.statusCode}`)) : resolve())).resume();
    });
    sent.on("error", reject).end(body);
  });
}

async function run(milliseconds: number): Promise<{ readonly times: readonly number[]; readonly perSecond: number }> {
  const times: number[] = [];
  const under: Promise<void>[] = [];
  const start = performance.now();
  const total = Math.floor((milliseconds / 1000) * load.perSecond);
  for (let i = 0; i < total; ) {
    // A late client sends what is due at once: waiting in the queue counts as time.
    for (; i < total && (i * 1000) / load.perSecond <= performance.now() - start; i++) {
      const due = start + (i * 1000) / load.perSecond;
      under.push(send(load.bodies[i % load.bodies.length] ?? "").then(() => void times.push(performance.now() - due)));
    }
    await new Promise((resolve) => setTimeout(resolve, 1));
  }
  await Promise.all(under);
  return { times: times.sort((a, b) => a - b), perSecond: (total * 1000) / (performance.now() - start) };
}

await run(load.milliseconds / 3);
const { times, perSecond } = await run(load.milliseconds);
const at = (share: number) => times[Math.min(times.length - 1, Math.floor(times.length * share))];
process.send?.({ perSecond, p50: at(0.5), p99: at(0.99) });
agent.destroy();
process.disconnect();
