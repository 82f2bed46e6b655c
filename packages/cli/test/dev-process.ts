import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { openLogger } from "@seneschal/adapters/logging";
import { prepareDev, type RunningProcess, startProcess } from "@seneschal/app";
import { chooseServer } from "../src/choose-server.ts";

/** A development process on free ports, with everything below one temporary directory. */
export interface DevProcess {
  readonly dir: string;
  readonly credentials: string;
  readonly running: RunningProcess;
  close(): Promise<void>;
}

export async function startDev(http: "fastify" | "express" = "fastify"): Promise<DevProcess> {
  const dir = await mkdtemp(join(tmpdir(), "seneschal-cli-"));
  const log = openLogger({ level: "silent" });
  const { config, file } = await prepareDev({ dataDir: dir, portBase: "any", http, log, version: "test" });
  const running = await startProcess(config, { serve: await chooseServer(http), log, version: "test" });
  return {
    dir,
    credentials: file,
    running,
    async close() {
      await running.stop();
      await rm(dir, { recursive: true, force: true });
    },
  };
}
