import type { ClusterControl } from "../cluster/cluster-control.ts";
import type { StorageContext } from "../context.ts";
import type { DeviceSet } from "../data/device-set.ts";
import type { FragmentIo } from "../data/fragment-io.ts";
import type { ChunkRepair } from "../data/rebuild-chunk.ts";
import type { ObjectServices } from "../objects/services.ts";
import type { BackupTarget } from "./backup-target.ts";
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
  /** Where backups go, by name. */
  readonly backups: Readonly<Record<string, BackupTarget>>;
  /** Holds garbage collection back while a backup reads; returns the end of it. */
  readonly holdGc: () => () => void;
}
