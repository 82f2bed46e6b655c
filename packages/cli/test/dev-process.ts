import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { openLogger } from "@seneschal/adapters/logging";
import { type RunningDev, startDev } from "@seneschal/app";
import { serveGrpc } from "@seneschal/server-grpc";
import { serveS3 } from "@seneschal/server-s3";
import { chooseServer } from "../src/choose-server.ts";

/** A development process on free ports, with everything below one temporary directory. */
export interface DevProcess {
  readonly dir: string;
  readonly credentials: string;
  readonly running: RunningDev;
  close(): Promise<void>;
}

export async function openDevProcess(
  http: "fastify" | "express" = "fastify",
  organizations?: readonly string[],
): Promise<DevProcess> {
  const dir = await mkdtemp(join(tmpdir(), "seneschal-cli-"));
  const log = openLogger({ level: "silent" });
  const serve = await chooseServer(http);
  const given = organizations === undefined ? {} : { organizations };
  const running = await startDev({
    dataDir: dir,
    portBase: "any",
    http,
    serve,
    serveS3,
    serveGrpc,
    log,
    version: "test",
    ...given,
  });
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
