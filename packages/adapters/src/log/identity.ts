import { createHash, randomUUID } from "node:crypto";

/** Lower-case hex SHA-256 of bytes, or of a text's UTF-8 bytes. */
export const sha256 = (data: string | Uint8Array): string => createHash("sha256").update(data).digest("hex");

/** A fresh random id (UUID v4). */
export const newId = (): string => randomUUID();
