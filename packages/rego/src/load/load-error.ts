/** `data_*` of base documents, `bundle_*` of bundles, `capabilities_*` of capabilities files, `module_*` of JavaScript modules. */
export type LoadCode =
  | "capabilities_invalid"
  | "data_invalid"
  | "data_conflict"
  | "bundle_invalid"
  | "bundle_limit"
  | "bundle_roots"
  | "bundle_signature"
  | "module_entrypoints"
  | "module_version"
  | "module_builtins"
  | "module_invalid";

/** Thrown where documents, bundles, capabilities or modules compiled ahead cannot be what a policy runs on. */
export class LoadError extends Error {
  override readonly name = "LoadError";
  readonly code: LoadCode;

  constructor(code: LoadCode, message: string) {
    super(message);
    this.code = code;
  }
}
