import { readFileSync } from "node:fs";
import { parse } from "yaml";
import { processSettings } from "../../src/compose/process-settings.ts";

/** What of the documented file is one machine's, and not another's. */
export interface Place {
  readonly host: string;
  readonly port: number;
  readonly instance: string;
  readonly endpoints: readonly string[];
  readonly data: string;
  /** SHA-256 of the administrator's token, hexadecimal. */
  readonly token: string;
}

/** The file that docs/scheduler.md gives for several processes, as it is. */
export function documentedFile() {
  const page = readFileSync(new URL("../../../../docs/scheduler.md", import.meta.url), "utf8");
  const [, text = ""] = /```yaml\n([\s\S]*?)```/.exec(page) ?? [];
  return parse(text);
}

/** The same for another place: addresses, paths and names are replaced one for one; on loopback without the certificates. */
export function documentedCluster({ host, port, instance, endpoints, data, token }: Place) {
  const file = documentedFile();
  const { scheduler } = file;
  const had = Object.keys({ ...scheduler, ...scheduler.storage, ...scheduler.server });
  Object.assign(scheduler.server, { host, port, instance_id: instance, tls_cert: undefined, tls_key: undefined });
  Object.assign(scheduler.storage, { endpoints, etcd_tls: undefined, backups: `${data}/backups` });
  scheduler.cluster.address = `http://${host}:${port}`;
  scheduler.tokens[0].sha256 = token;
  file.data_dir = data;
  if (Object.keys({ ...scheduler, ...scheduler.storage, ...scheduler.server }).join() !== had.join())
    throw new Error("the documented file lacks a setting that was to be replaced");
  const plain = JSON.parse(JSON.stringify(file));
  processSettings.parse(plain);
  return plain as object;
}
