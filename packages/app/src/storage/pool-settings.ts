import { acknowledgeOf, classDurability, type Durability } from "@seneschal/core/storage";
import type { StorageConfig } from "./settings.ts";

/** The durability that a pool of the settings says. */
export function durabilityOf(setting: NonNullable<StorageConfig["pools"][number]["durability"]>): Durability {
  return "copies" in setting
    ? { kind: "replication", copies: setting.copies }
    : { kind: "ec", data: setting.data, parity: setting.parity };
}

/** The pools whose devices in the settings are too few for a chunk, where no other node brings any. */
export function shortPools({ pools, devices }: Pick<StorageConfig, "pools" | "devices">): readonly {
  readonly index: number;
  readonly found: number;
  readonly needed: number;
}[] {
  return pools.flatMap(({ id, class: deviceClass, durability }, index) => {
    const found = devices.filter(({ pool }) => pool === id).length;
    const needed = acknowledgeOf(durability === undefined ? classDurability[deviceClass] : durabilityOf(durability));
    return found > 0 && found < needed ? [{ index, found, needed }] : [];
  });
}
