/** Write verifiers (RFC 1813, 3.3.7) of each bucket's own: what was given up of one makes no client of another write again. */
export interface WriteVerifiers {
  /** Eight bytes: others after each start, and after each time that something of the bucket was given up. */
  of(bucket: string): Uint8Array;
  /** What clients wrote to the bucket and did not commit is given up. */
  renew(bucket: string): void;
}

/** `boot`: eight random bytes of this start. */
export function createWriteVerifiers(boot: Uint8Array): WriteVerifiers {
  const renewed = new Map<string, number>();
  return {
    of(bucket) {
      const verifier = Buffer.from(boot);
      verifier.writeUInt32BE((verifier.readUInt32BE(4) + (renewed.get(bucket) ?? 0)) >>> 0, 4);
      return verifier;
    },
    renew(bucket) {
      renewed.set(bucket, (renewed.get(bucket) ?? 0) + 1);
    },
  };
}
