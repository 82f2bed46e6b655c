import { createRequire } from "node:module";
import type { S3Client } from "@aws-sdk/client-s3";
import { openLogger } from "@seneschal/adapters/logging";
import { embeddedPolicyEngine } from "@seneschal/adapters/policy";
import { openBucketPolicies } from "../../src/storage/s3/authorise.ts";
import { type Credentials, createCredentials } from "../../src/storage/s3/credentials.ts";
import { type S3Gateway, type S3GatewayOptions, serveS3 } from "../../src/storage/s3/serve-s3.ts";
import { openRig, operator, type Rig, type RigOptions, storageAuthorisation } from "./rig.ts";

/** The SDK by its CommonJS door: its ES modules import without file extensions, which Node does not resolve. */
export const sdk = createRequire(import.meta.url)("@aws-sdk/client-s3") as typeof import("@aws-sdk/client-s3");

export interface S3Rig {
  readonly rig: Rig;
  readonly gateway: S3Gateway;
  readonly credentials: Credentials;
  readonly keys: { readonly access_key: string; readonly secret_key: string };
  client(keys?: { readonly access_key: string; readonly secret_key: string }): S3Client;
  dispose(): Promise<void>;
}

/** A node with its S3 gateway on a loopback port, at real time so that real clients' signatures are fresh. */
export async function openS3Rig(
  options?: RigOptions & { readonly policy?: string; readonly gateway?: Partial<S3GatewayOptions> },
): Promise<S3Rig> {
  const rig = await openRig(options);
  rig.clock.set(Date.now());
  const credentials = createCredentials(rig.node.context, rig.vault);
  const keys = await credentials.create("alpha", operator);
  const gateway = await serveS3({
    services: rig.node.objects,
    credentials,
    authorisation: await storageAuthorisation(options?.policy),
    policies: await openBucketPolicies(embeddedPolicyEngine()),
    log: openLogger({ level: "silent" }),
    host: "127.0.0.1",
    port: 0,
    connections: rig.node.connections,
    ...options?.gateway,
  });
  const clients: S3Client[] = [];
  return {
    rig,
    gateway,
    credentials,
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
