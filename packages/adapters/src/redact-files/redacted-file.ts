/** A redacted file, and how often something was hidden of each entity. */
export interface RedactedFile {
  readonly bytes: Uint8Array;
  readonly counts: ReadonlyMap<string, number>;
}

/** A restored file, how many values came back, and how many are left that were taken under another key. */
export interface RestoredFile {
  readonly bytes: Uint8Array;
  readonly count: number;
  readonly left: number;
}
