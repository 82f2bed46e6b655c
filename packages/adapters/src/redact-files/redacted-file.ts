/** A redacted file, and how often something was hidden of each entity. */
export interface RedactedFile {
  readonly bytes: Uint8Array;
  readonly counts: ReadonlyMap<string, number>;
}

/** A restored file, and how many values came back. */
export interface RestoredFile {
  readonly bytes: Uint8Array;
  readonly count: number;
}
