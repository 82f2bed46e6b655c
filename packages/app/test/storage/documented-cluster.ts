import { readFileSync } from "node:fs";
import { parse } from "yaml";
import { processSettings } from "../../src/compose/process-settings.ts";

/** What of the documented file is one machine's, and not another's. */
export interface Place {
  readonly node: string;
  readonly server: { readonly host: string; readonly port: number };
  readonly data: string;
  readonly peer: string;
  /** What the others call the two, where a proxy stands in front of them. */
  readonly advertise?: { readonly data: string; readonly peer: string };
  readonly s3: { readonly host: string; readonly port: number };
  /** PEM files. */
  readonly tls: { readonly ca: string; readonly cert: string; readonly key: string };
  readonly endpoints: readonly string[];
  readonly database: string;
  readonly keyFile: string;
  readonly directory: (device: number) => string;
  readonly token: string;
  readonly sample: string;
}

/**
 * The configuration that docs/storage.md gives for a cluster, for another place: addresses, paths and names are replaced one for
 * one, and nothing is added but a quicker round.
 */
export function documentedCluster(place: Place) {
  const page = readFileSync(new URL("../../../../docs/storage.md", import.meta.url), "utf8");
  const [, text = ""] = [...page.matchAll(/```yaml\n([\s\S]*?)```/g)].find(([, block]) => block?.includes("kind: etcd")) ?? [];
  const file = parse(text);
  const { storage } = file;
  const had = Object.keys(storage);
  Object.assign(storage.server, place.server);
  storage.node_id = place.node;
  Object.assign(storage.s3, place.s3);
  Object.assign(storage.grpc, { address: place.data, ...place.tls });
  Object.assign(storage.cluster, { endpoints: place.endpoints, peer_address: place.peer, sample: place.sample });
  if (place.advertise !== undefined) storage.cluster.advertise = place.advertise;
  storage.database.url = place.database;
  storage.vault.key_file = place.keyFile;
  for (const [i, device] of storage.devices.entries())
    Object.assign(device, { id: `${place.node}-d${i}`, directory: place.directory(i), capacity_bytes: 256 << 20 });
  storage.admin.tokens[0].sha256 = place.token;
  if (Object.keys(storage).join() !== had.join()) throw new Error("the documented file lacks a setting that was to be replaced");
  processSettings.parse(file);
  return storage as object;
}
