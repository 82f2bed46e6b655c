import { join } from "node:path";
import { type BackupTarget, directoryBackups } from "@seneschal/adapters/backups";
import { openLevelStore } from "@seneschal/adapters/level";
import { nodeCrypto } from "@seneschal/adapters/node-crypto";
import { systemClock, systemRandom } from "@seneschal/adapters/system";
import { openEmbeddedVault, vaultCollections } from "@seneschal/adapters/vault";
import { openDiskNode } from "./kill-child.ts";
import { operator } from "./rig.ts";

/** A node whose vault and backups lie beside it, in `root`, for every node that is opened there. */
export async function openBackedUpNode(root: string, name: string, aheadMs: number, onPiece: () => void = () => undefined) {
  const store = await openLevelStore({ collections: vaultCollections, path: join(root, "vault") });
  const unseal = { kind: "key", key: new Uint8Array(32).fill(7) } as const;
  const vault = await openEmbeddedVault({ store, crypto: nodeCrypto, random: systemRandom, clock: systemClock, unseal });
  const target = counted(directoryBackups(join(root, "backups")), onPiece);
  const disk = await openDiskNode(join(root, name), aheadMs, { vault, backups: { fs: target } });
  return {
    node: disk.node,
    target,
    async close() {
      await disk.close();
      await store.close();
    },
  };
}

/** Tells of every piece of a backup that is written or read. */
function counted(target: BackupTarget, onPiece: () => void): BackupTarget {
  const each = async function* (bytes: AsyncIterable<Uint8Array>) {
    for await (const piece of bytes) {
      onPiece();
      yield piece;
    }
  };
  return {
    ...target,
    write: (id, file, bytes) => target.write(id, file, each(bytes)),
    read: (id, file) => each(target.read(id, file)),
  };
}

/** As `backup-child`: makes a backup of a node, or restores one into it, and prints a line for every piece. */
if (process.argv[2] === "backup-child") {
  const [, , , root = "", name = "", snapshot] = process.argv;
  const { node, close } = await openBackedUpNode(root, name, 0, () => process.stdout.write("piece\n"));
  const job =
    snapshot === undefined
      ? await node.backup({ include_data: true }, operator)
      : await node.restore({ snapshot_id: snapshot }, operator);
  process.stdout.write(`job ${job.id}\n`);
  await node.jobs.drain();
  await close();
}
