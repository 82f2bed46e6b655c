import { mkdtemp, readFile, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { openLogger } from "@seneschal/adapters/logging";
import { type DevCredentialsFile, startDev } from "@seneschal/app";
import { devIssuer } from "@seneschal/app/gateway";
import { serve } from "@seneschal/server-fastify";
import { serveGrpc } from "@seneschal/server-grpc";
import { serveS3 } from "@seneschal/server-s3";

/** A reference server with all services on free ports of this machine, everything below one temporary directory. */
export interface World {
  readonly dir: string;
  readonly urls: DevCredentialsFile["base_urls"];
  readonly ca: string;
  readonly instance: string;
  readonly credentials: DevCredentialsFile;
  /** A token of the identity provider that the instance trusts. */
  token(claims: {
    readonly sub: string;
    readonly org: string;
    readonly roles?: readonly string[];
    readonly email?: string;
    readonly email_verified?: boolean;
  }): string;
  close(): Promise<void>;
}

/** Starts a server that knows no organisation and no admin yet. */
export async function openWorld(): Promise<World> {
  const dir = await mkdtemp(join(tmpdir(), "seneschal-tour-"));
  const log = openLogger({ level: "error" });
  const running = await startDev({
    dataDir: dir,
    portBase: "any",
    organizations: [],
    serve,
    serveS3,
    serveGrpc,
    log,
    version: "tour",
  });
  const { credentials } = running;
  const issuer = devIssuer(await readFile(join(dir, "dev", "issuer-key.pem"), "utf8"));
  return {
    dir,
    urls: credentials.base_urls,
    ca: await readFile(credentials.ca, "utf8"),
    instance: credentials.instance_id,
    credentials,
    token: (claims) => issuer.token({ ttl: 3600, ...claims }, Date.now()),
    async close() {
      await running.stop();
      await rm(dir, { recursive: true, force: true });
    },
  };
}
