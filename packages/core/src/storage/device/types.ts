/** The five states of a device; there is no other. Warnings (temperature, wear) are flags beside the state. */
export const deviceStates = ["Healthy", "Degraded", "Evacuating", "Failed", "Removed"] as const;
export type DeviceState = (typeof deviceStates)[number];

/** `nvme` counts as `ssd` for SMART triggers and thresholds. */
export const deviceClasses = ["ssd", "nvme", "hdd", "custom", "mixed"] as const;
export type DeviceClass = (typeof deviceClasses)[number];

/** One reading of a device's own health data. An absent number was not reported. */
export interface SmartReading {
  /** Percent of rated endurance used; NVMe may exceed 100. */
  readonly wearPercent?: number;
  /** Reallocated sectors. */
  readonly badSectors?: number;
  readonly temperatureCelsius?: number;
  /** Reads that the device could not correct. */
  readonly uncorrectableReads?: number;
}

/** A device as the cluster knows it. Replicated state. */
export interface Device {
  readonly id: string;
  readonly node: string;
  readonly pool: string;
  readonly class: DeviceClass;
  readonly capacityBytes: number;
  /** The directory that its node opened for it while it ran; absent: the node's own settings say where it is. */
  readonly directory?: string;
  readonly state: DeviceState;
  /** Failed only: whether the evacuation moved everything away. */
  readonly evacuated: boolean;
  /** The reading at which an operator cancelled the evacuation: the automatic trigger waits for a worse one. */
  readonly hold?: SmartReading;
  /** Why it is in this state. */
  readonly reason: string;
  /** Milliseconds since the epoch of the last transition. */
  readonly since: number;
}
