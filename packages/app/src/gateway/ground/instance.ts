import { timestamp } from "@seneschal/core/keys";
import { parseCertificate } from "@seneschal/crypto/x509";
import { CodedError } from "@seneschal/kernel";
import type { DocumentStore, Random } from "@seneschal/kernel/ports";
import { collection } from "../../platform/collection.ts";
import { authorities, instanceAuthorities } from "./pki/collections.ts";
import { transact } from "./store/unit-of-work.ts";

/** Which instance the data is of. */
export interface StoredInstance {
  readonly instance_id: string;
  readonly created_at: string;
}

export const instances = collection<StoredInstance>("instances");

interface Wanted {
  /** `server.instance_id`, when it is configured. */
  readonly configured: string | undefined;
  /** What `init` made for this data directory. */
  readonly prepared: string | undefined;
  readonly random: Random;
  readonly now: number;
  readonly commitId: () => string;
}

const ID = "this";

/** A name that no other instance has. */
export function newInstanceId(random: Random): string {
  return `snl-${Buffer.from(random(10)).toString("hex")}`;
}

/**
 * The id of the instance whose data a store holds: the audience of what its organisations sign, and a part of what its vault
 * seals. It is chosen once, when the store is new, and stays with the data: another one that is configured later is refused by
 * both names (`config_invalid`), because nothing of before would verify or open under it.
 */
export async function instanceOfStore(store: DocumentStore, wanted: Wanted): Promise<string> {
  const { configured, prepared, random, now, commitId } = wanted;
  const known = await transact(
    store,
    commitId,
    async (unit) => {
      const stored = await unit.get(instances, ID);
      if (stored !== undefined) return stored.instance_id;
      // A store of 0.1 names its instance in its root only.
      const root = await unit.get(authorities, instanceAuthorities.clients);
      const instance_id = root === undefined ? (configured ?? prepared ?? newInstanceId(random)) : namedBy(root.certificate);
      if (configured === undefined || configured === instance_id)
        unit.insert(instances, ID, { instance_id, created_at: timestamp(now) });
      return instance_id;
    },
    () => undefined,
  );
  if (configured !== undefined && configured !== known) {
    throw new CodedError(
      "config_invalid",
      `gateway.server.instance_id is ${JSON.stringify(configured)}, but this data is of the instance ${JSON.stringify(known)}: ` +
        "an instance keeps its id; put it back, or leave the setting out",
      { configured, stored: known },
    );
  }
  return known;
}

const PREFIX = "Seneschal root of ";

function namedBy(root: string): string {
  const name = parseCertificate(root).subject.find(({ type }) => type === "CN")?.value ?? "";
  return name.startsWith(PREFIX) ? name.slice(PREFIX.length) : "seneschal";
}
