import { readFileSync, statSync } from "node:fs";
import type { ChannelCredentials } from "@grpc/grpc-js";
import { grpc } from "../grpc.ts";

/** Files with PEM text. They are read again when they change, so that a renewed certificate is taken up. */
export interface EtcdTls {
  readonly caFile: string;
  /** Client certificate: with `--client-cert-auth` its common name is the etcd user. */
  readonly certFile?: string;
  readonly keyFile?: string;
}

/** Credentials of a channel, and a text that differs when the files behind them have changed. */
export function channelCredentials(tls: EtcdTls | undefined): ChannelCredentials {
  const { credentials } = grpc();
  if (tls === undefined) return credentials.createInsecure();
  const read = (file: string | undefined): Buffer | null => (file === undefined ? null : readFileSync(file));
  return credentials.createSsl(read(tls.caFile), read(tls.keyFile), read(tls.certFile));
}

/** Changes with the files. */
export function tlsFingerprint(tls: EtcdTls | undefined): string {
  if (tls === undefined) return "";
  return [tls.caFile, tls.certFile, tls.keyFile]
    .map((file) => (file === undefined ? "" : statSync(file, { throwIfNoEntry: false })?.mtimeMs))
    .join(" ");
}
