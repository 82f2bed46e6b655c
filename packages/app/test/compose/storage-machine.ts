import { createHash } from "node:crypto";
import { S3Client } from "@aws-sdk/client-s3";
import { openLogger } from "@seneschal/adapters/logging";
import { systemClock, systemRandom } from "@seneschal/adapters/system";
import type { Clock } from "@seneschal/kernel/ports";
import { serve } from "@seneschal/server-fastify";
import { serveS3 } from "@seneschal/server-s3";
import { storageServiceSettings } from "../../src/compose/service-settings.ts";
import { startService } from "../../src/platform/index.ts";
import type { Storage } from "../../src/storage/index.ts";
import type { StorageNode } from "../../src/storage/node.ts";
import { storageService } from "../../src/storage/service.ts";

const token = "token-of-the-operator";

export type StorageMachine = Awaited<ReturnType<typeof startStorageMachine>>;

/** A storage service as `seneschal serve` starts it, embedded vault and all, on a data directory and with a directory for backups. */
export async function startStorageMachine(
  directory: string,
  backups: string,
  clock: Clock = systemClock,
  settings: Record<string, unknown> = {},
) {
  const config = storageServiceSettings.parse({
    admin: { tokens: [{ id: "root", role: "cluster-admin", sha256: createHash("sha256").update(token).digest("hex") }] },
    s3: { port: 0 },
    pools: [{ id: "fast", class: "ssd" }],
    backup: { directory: backups },
    rate_limit: { authenticated: { limit: 1_000_000 } },
    ...settings,
  });
  let node: StorageNode | undefined;
  const definition = storageService(directory, { serveS3 });
  const build: typeof definition.build = async (...given) => {
    const built = await definition.build(...given);
    node = (built as Storage).node;
    return built;
  };
  const service = await startService({ ...definition, build }, config, {
    serve,
    listen: { port: 0 },
    clock,
    random: systemRandom,
    log: openLogger({ level: "silent" }),
    version: "test",
  });
  const clients: S3Client[] = [];
  const call = async (method: string, path: string, body?: unknown, headers: Readonly<Record<string, string>> = {}) => {
    const reply = await fetch(`${service.url}/ui/api/${path}`, {
      method,
      headers: { authorization: `Bearer ${token}`, "content-type": "application/json", ...headers },
      ...(body === undefined ? {} : { body: JSON.stringify(body) }),
    });
    // biome-ignore lint/suspicious/noExplicitAny: a test reads whatever came
    return { status: reply.status, body: (await reply.json()) as any };
  };
  let running = true;
  return {
    call,
    node: node as unknown as StorageNode,
    async stop() {
      if (!running) return;
      running = false;
      for (const client of clients) client.destroy();
      await service.stop();
    },
    /** The job that a request began, once it is over. */
    async finished(path: string, body: unknown) {
      const { job_id } = (await call("POST", `ops/${path}`, body)).body;
      for (;;) {
        const job = (await call("GET", `jobs/${job_id}`)).body;
        if (job.state !== "queued" && job.state !== "running") return job;
        await new Promise((resolve) => setImmediate(resolve));
      }
    },
    /** An S3 client at the machine's time. */
    client({ access_key, secret_key }: { access_key: string; secret_key: string }): S3Client {
      const client = new S3Client({
        endpoint: service.listeners["s3"] ?? "",
        region: "us-east-1",
        forcePathStyle: true,
        credentials: { accessKeyId: access_key, secretAccessKey: secret_key },
      });
      // Before each request: the SDK corrects it by the date of every reply, which is the real one.
      client.middlewareStack.add(
        (next) => (args) => {
          client.config.systemClockOffset = clock.now() - Date.now();
          return next(args);
        },
        { step: "initialize" },
      );
      clients.push(client);
      return client;
    },
  };
}
