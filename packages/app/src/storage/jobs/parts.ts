import type { BackupTarget } from "@seneschal/adapters/backups";
import type { PortableKeys } from "@seneschal/adapters/vault";
import type { Vault } from "@seneschal/kernel/ports";
import type { ClusterControl } from "../cluster/cluster-control.ts";
import type { StorageContext } from "../context.ts";
import type { DeviceSet } from "../data/devices.ts";
import type { FragmentIo } from "../data/fragment-io.ts";
import type { ChunkRepair } from "../data/rebuild-chunk.ts";
import type { KeyManager } from "../keys/key-manager.ts";
import type { ObjectServices } from "../objects/services.ts";
import type { Damage } from "../watch/watch-damage.ts";
import type { Throttle } from "./throttle.ts";

/** What background work is given. */
export interface MaintenanceParts {
  readonly context: StorageContext;
  readonly cluster: ClusterControl;
  readonly devices: DeviceSet;
  readonly io: FragmentIo;
  readonly repair: ChunkRepair;
  readonly objects: ObjectServices;
  /** Bounds moved bytes by `rebalance_rate_mb_s`. */
  readonly throttle: Throttle;
  readonly damage: Damage;
  readonly keys: KeyManager;
  /** Seals the keys of backups; one whose keys are portable goes into them, sealed. */
  readonly vault: Vault & Partial<PortableKeys>;
  /** Where backups go, by name; the first unless a job says otherwise. */
  readonly backups: Readonly<Record<string, BackupTarget>>;
}
