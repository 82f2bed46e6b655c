/** A process that keeps requests in flight over keep-alive HTTPS connections and reports how many were answered per second. */
import { Agent, type RequestOptions, request } from "node:https";

interface Load {
  readonly port: number;
  readonly ca: string;
  readonly cert: string;
  readonly key: string;
  readonly path: string;
  readonly method: string;
  readonly body?: string;
  readonly connections: number;
  readonly milliseconds: number;
}

const load = await new Promise<Load>((resolve) => process.once("message", (message) => resolve(message as Load)));
const agent = new Agent({ keepAlive: true, maxSockets: load.connections, ca: load.ca, cert: load.cert, key: load.key });
const options: RequestOptions = {
  agent,
  host: "localhost",
  port: load.port,
  path: load.path,
  method: load.method,
  headers: load.body === undefined ? {} : { "content-type": "application/json", "content-length": Buffer.byteLength(load.body) },
};

function once(): Promise<void> {
  return new Promise((resolve, reject) => {
    const sent = request(options, (response) => {
      const bad = (response.statusCode ?? 500) >= 400;
      response.on("end", () => (bad ? reject(new Error(`status ${response.statusCode}`)) : resolve())).resume();
    });
    sent.on("error", reject).end(load.body);
  });
}

async function run(milliseconds: number): Promise<number> {
  const end = performance.now() + milliseconds;
  const start = performance.now();
  let answered = 0;
  await Promise.all(
    Array.from({ length: load.connections }, async () => {
      while (performance.now() < end) {
        await once();
        answered += 1;
      }
    }),
  );
  return (answered * 1000) / (performance.now() - start);
}

await run(load.milliseconds / 3);
process.send?.(await run(load.milliseconds));
agent.destroy();
process.disconnect();
