import { roomAt } from "@seneschal/adapters/files";
import type { HealthCheck } from "../platform/health.ts";

/** The health of a disk: what is written there is at risk, what is read is not. */
export function diskCheck(path: string, minFreeBytes: number): HealthCheck {
  return {
    name: "disk",
    required: false,
    async check() {
      const { freeBytes } = await roomAt(path);
      if (freeBytes < minFreeBytes) throw new Error(`${freeBytes} bytes are free where ${path} is, fewer than ${minFreeBytes}`);
    },
  };
}
