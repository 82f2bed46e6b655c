import type { EtcdOptions } from "@seneschal/adapters/etcd";
import { z } from "zod";
import { secret } from "../config/secret.ts";

/** How a service reaches etcd: fields of its settings. */
export const etcdSettings = {
  /** `https://host:2379`, one per member of etcd. */
  endpoints: z.array(z.url()).default([]),
  etcd_tls: z.strictObject({ ca: z.string(), cert: z.string().optional(), key: z.string().optional() }).optional(),
  etcd_user: z.strictObject({ username: z.string().min(1), password: secret() }).optional(),
};

/** The settings as the etcd client takes them. */
export function etcdOptions({
  endpoints,
  etcd_tls: tls,
  etcd_user: user,
}: {
  readonly endpoints: readonly string[];
  readonly etcd_tls?: { readonly ca: string; readonly cert?: string | undefined; readonly key?: string | undefined } | undefined;
  readonly etcd_user?: { readonly username: string; readonly password: string } | undefined;
}): EtcdOptions {
  return {
    endpoints,
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
