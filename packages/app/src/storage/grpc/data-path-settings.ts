import type { StorageConfig } from "../settings.ts";

/** Where the data path listens and what it proves itself with; the environment wins over the file. */
export type DataPathSettings = StorageConfig["grpc"];

/** The settings with the environment's `STORE_DATA_ADDR`, `STORE_CA_PATH`, `STORE_CERT_PATH`, `STORE_KEY_PATH`, `STORE_CRL_PATH`. */
export function dataPathSettings(
  settings: DataPathSettings,
  env: Readonly<Record<string, string | undefined>>,
): DataPathSettings {
  const ca = env["STORE_CA_PATH"] ?? settings.ca;
  const cert = env["STORE_CERT_PATH"] ?? settings.cert;
  const key = env["STORE_KEY_PATH"] ?? settings.key;
  const crl = env["STORE_CRL_PATH"] ?? settings.crl;
  return { ...settings, address: env["STORE_DATA_ADDR"] ?? settings.address, ca, cert, key, crl };
}

/** Host and port of `host:port`, IPv6 hosts in brackets. Throws `TypeError`. */
export function parseDataAddress(address: string): { readonly host: string; readonly port: number } {
  const [, bracketed, plain, digits] = /^(?:\[([0-9a-fA-F:.]+)\]|([^:[\]]+)):(\d{1,5})$/.exec(address) ?? [];
  const host = bracketed ?? plain;
  const port = Number(digits);
  if (host === undefined || !(port <= 65_535)) throw new TypeError(`expected host:port, not ${JSON.stringify(address)}`);
  return { host, port };
}
