import { createServer } from "node:net";
import { CodedError } from "@seneschal/core";

const first = 12_000;
const last = 30_000;
const tries = 200;

/** A base for which every offset is a free port of the loopback, below the range that systems hand out by themselves. */
export async function freePortBase(offsets: readonly number[], random: (length: number) => Uint8Array): Promise<number> {
  for (let attempt = 0; attempt < tries; attempt++) {
    const [high = 0, low = 0] = random(2);
    const base = first + ((high * 256 + low) % (last - first));
    const free = await Promise.all(offsets.map((offset) => isFree(base + offset)));
    if (free.every(Boolean)) return base;
  }
  throw new CodedError("usage", "no range of free ports was found");
}

function isFree(port: number): Promise<boolean> {
  return new Promise((resolve) => {
    const probe = createServer();
    probe.once("error", () => resolve(false));
    probe.listen(port, "127.0.0.1", () => probe.close(() => resolve(true)));
  });
}
