/** `data_*` of base documents, `bundle_*` of bundles, `capabilities_*` of capabilities files. */
export type LoadCode =
  | "capabilities_invalid"
  | "data_invalid"
  | "data_conflict"
  | "bundle_invalid"
  | "bundle_roots"
  | "bundle_signature";

/** Thrown where documents, bundles or capabilities cannot be what a policy runs on. */
export class LoadError extends Error {
  override readonly name = "LoadError";
  readonly code: LoadCode;

  constructor(code: LoadCode, message: string) {
    super(message);
    this.code = code;
  }
}
