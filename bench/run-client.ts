import { fork } from "node:child_process";

/** Runs a client of this folder in a process of its own: it is sent its orders, and its report is the answer. */
export function runClient<Report>(file: "load-client.ts" | "s3-client.ts" | "stream-client.ts", orders: object): Promise<Report> {
  const client = fork(new URL(file, import.meta.url).pathname);
  client.send(orders);
  return new Promise((resolve, reject) => {
    client.once("message", (report) => resolve(report as Report)).once("error", reject);
    client.once("exit", (code) => (code === 0 ? undefined : reject(new Error(`${file} ended with ${code}`))));
  });
}
