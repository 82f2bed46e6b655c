/**
 * Gives unpredictable bytes.
 *
 * Law: every call returns a fresh array of exactly `length` bytes from a cryptographic source; the caller owns it and
 * may zero it. Deterministic implementations exist for tests only and say so in their name.
 */
export type Random = (length: number) => Uint8Array;
