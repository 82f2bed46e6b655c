import { createHash } from "node:crypto";
import { open, readFile, rename } from "node:fs/promises";
import { join } from "node:path";
import { CodedError } from "@seneschal/kernel";
import type { BlobDeviceErrorCode } from "@seneschal/kernel/ports";

/** What a device directory says about itself: one JSON line and its SHA-256. */
export interface Superblock {
  readonly format: string;
  readonly id: string;
  readonly capacity_bytes: number;
}

/** The superblock, `undefined` when there is none, `"damaged"` when its checksum does not fit. */
export async function readSuperblock(directory: string): Promise<Superblock | undefined | "damaged"> {
  let text: string;
  try {
    text = await readFile(join(directory, "superblock"), "latin1");
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === "ENOENT") return undefined;
    throw new CodedError<BlobDeviceErrorCode>("device_unavailable", "the superblock cannot be read", {}, error);
  }
  const [line = "", sum = "", rest] = text.split("\n");
  return rest === "" && sum === digest(line) ? (JSON.parse(line) as Superblock) : "damaged";
}

/** Writes it whole or not at all. */
export async function writeSuperblock(directory: string, superblock: Superblock): Promise<void> {
  const line = JSON.stringify(superblock);
  const temporary = join(directory, "superblock.new");
  const file = await open(temporary, "w");
  try {
    await file.writeFile(`${line}\n${digest(line)}\n`, "latin1");
    await file.sync();
  } finally {
    await file.close();
  }
  await rename(temporary, join(directory, "superblock"));
}

function digest(line: string): string {
  return createHash("sha256").update(line).digest("hex");
}
