import type { EtcdOptions } from "@seneschal/adapters/etcd";
import { checkArgument } from "@seneschal/kernel";
import * as z from "zod";
import { duration } from "../config/duration.ts";
import { file } from "../config/file.ts";
import { secret } from "../config/secret.ts";

/** How a service reaches etcd: fields of its settings. */
export const etcdSettings = {
  /** `https://host:2379`, one per member of etcd. */
  endpoints: z.array(z.url()).default([]),
  etcd_tls: z
    .strictObject({ ca: file("authorities"), cert: file("certificate").optional(), key: file("private key").optional() })
    .optional(),
  etcd_user: z.strictObject({ username: z.string().min(1), password: secret() }).optional(),
  /** How long one member is waited for before the next is asked. */
  etcd_try_timeout: duration("1s"),
  /** How long an operation is tried before it is said that there is no quorum. */
  etcd_total_timeout: duration("10s"),
};

/** The settings as the etcd client takes them. */
export function etcdOptions(given: {
  readonly endpoints: readonly string[];
  readonly etcd_tls?: { readonly ca: string; readonly cert?: string | undefined; readonly key?: string | undefined } | undefined;
  readonly etcd_user?: { readonly username: string; readonly password: string } | undefined;
  readonly etcd_try_timeout: number;
  readonly etcd_total_timeout: number;
}): EtcdOptions {
  checkArgument("given", given, "object");
  const { endpoints, etcd_tls: tls, etcd_user: user, etcd_try_timeout: tryMs, etcd_total_timeout: totalMs } = given;
  return {
    endpoints,
    tryMs,
    totalMs,
    ...(tls === undefined
      ? {}
      : {
          tls: {
            caFile: tls.ca,
            ...(tls.cert === undefined ? {} : { certFile: tls.cert }),
            ...(tls.key === undefined ? {} : { keyFile: tls.key }),
          },
        }),
    ...(user === undefined ? {} : { auth: user }),
  };
}
