export { EtcdClient, type EtcdOptions } from "./etcd-client.ts";
export { openEtcdLogMigratable } from "./etcd-migratable.ts";
export { type EtcdLeaseOptions, openEtcdLease } from "./open-etcd-lease.ts";
export { type EtcdLogOptions, openEtcdLog } from "./open-etcd-log.ts";
export { reclaimEtcdSpace } from "./reclaim-space.ts";
export type { EtcdTls } from "./tls.ts";
