import { CodedError } from "@seneschal/kernel";

/** `config_invalid` for a setting, by its path, with the environment's name for it where it has one. */
export function refusedSetting(field: string, why: string, cause?: unknown): CodedError<"config_invalid"> {
  return new CodedError("config_invalid", `${field}${named(field)}: ${why}`, { field }, cause);
}

function named(field: string): string {
  const name = environmentNames[field];
  return name === undefined ? "" : ` (${name})`;
}

/** The names of the interface document, by the settings that they win over. */
const environmentNames: Readonly<Record<string, string>> = {
  "storage.node_id": "STORE_NODE_ID",
  "storage.grpc.address": "STORE_DATA_ADDR",
  "storage.grpc.ca": "STORE_CA_PATH",
  "storage.grpc.cert": "STORE_CERT_PATH",
  "storage.grpc.key": "STORE_KEY_PATH",
  "storage.grpc.crl": "STORE_CRL_PATH",
  "storage.cluster.peer_address": "STORE_PEER_ADDR",
  "storage.backup": "STORE_BACKUP_*",
  "storage.backup.backend": "STORE_BACKUP_BACKEND",
};
