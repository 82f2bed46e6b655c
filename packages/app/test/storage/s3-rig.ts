import { createRequire } from "node:module";
import type { S3Client } from "@aws-sdk/client-s3";
import { type Logger, openLogger } from "@seneschal/adapters/logging";
import { type Metrics, openMetrics } from "@seneschal/adapters/metrics";
import { embeddedPolicyEngine } from "@seneschal/adapters/policy";
import type { S3Server, S3Settings } from "@seneschal/core/storage";
import type { PolicyEngine } from "@seneschal/kernel/ports";
import { serveS3 } from "@seneschal/server-s3";
import { type Credentials, createCredentials } from "../../src/storage/keys/credentials.ts";
import { openS3 } from "../../src/storage/open-s3.ts";
import { openRig, operator, patience, type Rig, type RigOptions, storageAuthorisation } from "./rig.ts";

/** The SDK by its CommonJS door: its ES modules import without file extensions, which Node does not resolve. */
export const sdk = createRequire(import.meta.url)("@aws-sdk/client-s3") as typeof import("@aws-sdk/client-s3");

export interface S3Rig {
  readonly rig: Rig;
  readonly gateway: S3Server;
  readonly credentials: Credentials;
  readonly metrics: Metrics;
  readonly keys: { readonly access_key: string; readonly secret_key: string };
  client(keys?: { readonly access_key: string; readonly secret_key: string }): S3Client;
  dispose(): Promise<void>;
}

/** A node with its S3 gateway on a loopback port, at real time so that real clients' signatures are fresh. */
export async function openS3Rig(
  options?: RigOptions & {
    readonly rig?: Rig;
    readonly policy?: string;
    /** What decides the policies of buckets. */
    readonly engine?: PolicyEngine;
    readonly gateway?: Partial<S3Settings>;
    readonly log?: Logger;
    /** Tenants whose requests have a series of their own. */
    readonly most?: number;
  },
): Promise<S3Rig> {
  const rig = options?.rig ?? (await openRig(options));
  rig.clock.set(Date.now());
  const credentials = createCredentials(rig.node.context, rig.vault);
  const keys = await credentials.create("alpha", operator);
  const owners = { kind: "tenant", named: [], most: options?.most ?? 50 } as const;
  const metrics = openMetrics({ prefix: "storage", version: "test", owners });
  const gateway = await openS3({
    settings: { host: "127.0.0.1", port: 0, ...options?.gateway },
    node: rig.node,
    credentials,
    authorisation: await storageAuthorisation(options?.policy),
    engine: options?.engine ?? embeddedPolicyEngine({ budgets: { milliseconds: patience } }),
    log: options?.log ?? openLogger({ level: "silent" }),
    requests: metrics,
    serveS3,
  });
  const clients: S3Client[] = [];
  return {
    rig,
    gateway,
    credentials,
    metrics,
    keys,
    client(own = keys) {
      const client = new sdk.S3Client({
        endpoint: gateway.url,
        region: "us-east-1",
        forcePathStyle: true,
        maxAttempts: 1,
        credentials: { accessKeyId: own.access_key, secretAccessKey: own.secret_key },
      });
      clients.push(client);
      return client;
    },
    async dispose() {
      for (const client of clients) client.destroy();
      await gateway.close();
      await rig.dispose();
    },
  };
}
