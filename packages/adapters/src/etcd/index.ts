export { EtcdClient, type EtcdOptions } from "./etcd-client.ts";
export { type EtcdLeaseOptions, openEtcdLease } from "./open-etcd-lease.ts";
export { type EtcdLogOptions, openEtcdLog } from "./open-etcd-log.ts";
export type { EtcdTls } from "./tls.ts";
