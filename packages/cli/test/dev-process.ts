import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { openLogger } from "@seneschal/adapters/logging";
import { type RunningDev, startDev } from "@seneschal/app";
import { chooseServer } from "../src/choose-server.ts";

/** A development process on free ports, with everything below one temporary directory. */
export interface DevProcess {
  readonly dir: string;
  readonly credentials: string;
  readonly running: RunningDev;
  close(): Promise<void>;
}

export async function openDevProcess(http: "fastify" | "express" = "fastify"): Promise<DevProcess> {
  const dir = await mkdtemp(join(tmpdir(), "seneschal-cli-"));
  const log = openLogger({ level: "silent" });
  const running = await startDev({ dataDir: dir, portBase: "any", http, serve: await chooseServer(http), log, version: "test" });
  return {
    dir,
    credentials: running.file,
    running,
    async close() {
      await running.stop();
      await rm(dir, { recursive: true, force: true });
    },
  };
}
