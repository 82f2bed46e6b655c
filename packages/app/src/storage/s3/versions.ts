import { s3Error } from "./errors.ts";

/** An object without versions has one, which S3 calls `null`; naming another names nothing. Throws `NoSuchVersion`. */
export function checkVersion(version: string | undefined): void {
  if (version !== undefined && version !== "null")
    throw s3Error("NoSuchVersion", "the object has no such version", { elements: { VersionId: version } });
}
