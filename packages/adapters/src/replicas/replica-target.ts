import type { Retention } from "@seneschal/core/storage";

/** A version of a key, to be copied elsewhere. */
export interface Replica {
  readonly key: string;
  /** What it is called here, and is to be called there where the server knows how. */
  readonly version: string;
  readonly contentType: string;
  /** As it is here. One of 32 digits is the MD5 of the bytes. */
  readonly etag: string;
  /** Standard headers, checksums among them, and user metadata without its prefix: values as HTTP/1.1 carries them, a character for a byte. */
  readonly headers: Readonly<Record<string, string>>;
  readonly meta: Readonly<Record<string, string>>;
  readonly tags: readonly { readonly key: string; readonly value: string }[];
  /** Until when it is kept, milliseconds. */
  readonly retention?: Retention;
  readonly legalHold?: boolean;
  /** In their order. One that was put at once has itself as its only one, unless `joined`. */
  readonly parts: readonly ReplicaPart[];
  /** It was made of its parts, and is to be made of them again: its ETag and its checksum are of them. */
  readonly joined: boolean;
}

export interface ReplicaPart {
  /** Bytes. */
  readonly size: number;
  /** Hexadecimal, where it is known. */
  readonly md5?: string;
  /** Verified checksums, base64, by header name. */
  readonly checksums: Readonly<Record<string, string>>;
  bytes(): AsyncIterable<Uint8Array>;
}

/**
 * - `replica_unreached`: the server does not answer, cannot, or does not know us: nothing can be copied to it now.
 * - `replica_withheld`: the bucket takes nothing now: it is not there, not ours, or without versions.
 * - `replica_full`: the bucket has no room for this version now: it may have for smaller ones.
 * - `replica_denied`: this version is not taken now (403, 409): others may be.
 * - `replica_refused`: this version is not taken, now and later.
 *
 * `details`: `status` and `code` of the answer, where there was one; of a description which `parts` of it were not taken.
 */
export type ReplicaErrorCode = "replica_unreached" | "replica_withheld" | "replica_full" | "replica_denied" | "replica_refused";

/** What is said of a version, each by itself. */
export type DescriptionPart = "tags" | "retention" | "legal hold";

/** An S3 server that versions are copied to. Its operations throw `CodedError` of {@link ReplicaErrorCode}. */
export interface ReplicaTarget {
  /** A bucket that keeps versions; `locks`: those may be held. */
  open(bucket: string): Promise<{ readonly locks: boolean }>;
  /**
   * Copies a version; one that is there already under its name is left as it is, and refused where it is another. `named`: it is called there as
   * it is here, so that it can be described.
   *
   * Bytes are proved where they can be: the server is sent the MD5 and the checksums that the version has, and of each of its parts; whatever
   * checksums it then tells must be those; and one that calls the version as we do must tell the ETag of these bytes.
   */
  put(bucket: string, replica: Replica, signal?: AbortSignal): Promise<{ readonly named: boolean }>;
  /**
   * Gives a version that is there under its name the tags and the lock that it is to have; without `locks` its tags alone. Each part is sent
   * whatever becomes of the others. No lock there is weakened: a retention only grows, in time or to `COMPLIANCE`, a hold is only put on.
   */
  describe(bucket: string, replica: Replica, locks: boolean, signal?: AbortSignal): Promise<void>;
  /** Copies a delete marker. */
  putMarker(bucket: string, marker: Pick<Replica, "key" | "version">, signal?: AbortSignal): Promise<void>;
  close(): void;
}
