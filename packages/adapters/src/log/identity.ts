import { createHash, randomUUID } from "node:crypto";

/** Lower-case hex SHA-256 of a text's UTF-8 bytes. */
export const sha256 = (text: string): string => createHash("sha256").update(text, "utf8").digest("hex");

/** A fresh random id (UUID v4). */
export const newId = (): string => randomUUID();
