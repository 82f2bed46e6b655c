export { EtcdClient, type EtcdOptions } from "./etcd-client.ts";
export { type EtcdLogOptions, openEtcdLog } from "./open-etcd-log.ts";
export type { EtcdTls } from "./tls.ts";
