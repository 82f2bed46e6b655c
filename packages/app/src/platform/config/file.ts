import { checkArgument } from "@seneschal/kernel";
import * as z from "zod";
import { wrapped } from "./leaves.ts";

/** What a file that a setting names holds. All but `secret` and `text` is PEM, or base64 where it says so. */
export type FileContent =
  /** A certificate with what stands behind it; the setting beside it names its key. */
  | "certificate"
  /** CA certificates. */
  | "authorities"
  | "private key"
  /** PEM key or certificate, or a JWK set. */
  | "public key"
  | "revocation lists"
  /** Rego. */
  | "policy"
  /** 32 bytes in base64. */
  | "unseal key"
  /** Code that is loaded. */
  | "library"
  /** Text that is nobody else's to read. */
  | "secret"
  | "text";

/** When a file is read: `at each use`, and whoever changes it need do nothing, or once, when the process takes up its settings. */
type FileRead = "once" | "at each use";

/** A setting that names a file: it is opened by `config check`, and looked at again while the process runs. */
export function file(holds: FileContent, read: FileRead = "once"): z.ZodString {
  return z.string().min(1).meta({ file: { holds, read } });
}

/** One file that a configuration names. */
export interface NamedFile {
  /** Dotted path of the setting. */
  readonly setting: string;
  readonly path: string;
  readonly holds: FileContent;
  readonly read: FileRead;
}

/** The files that a configuration of a schema names, also inside of lists and of settings by name. */
export function namedFiles(schema: z.core.$ZodType, value: unknown, at: readonly string[] = []): readonly NamedFile[] {
  checkArgument("schema", schema, "object");
  if (value === undefined || value === null) return [];
  const named = (schema as z.ZodType).meta?.()?.["file"] as Pick<NamedFile, "holds" | "read"> | undefined;
  if (named !== undefined && typeof value === "string") return [{ setting: at.join("."), path: value, ...named }];
  const inner = wrapped(schema);
  if (inner !== undefined) return namedFiles(inner, value, at);
  const { def } = (schema as z.core.$ZodTypes)._zod;
  switch (def.type) {
    case "object":
      return Object.entries(def.shape).flatMap(([key, child]) =>
        namedFiles(child, (value as Record<string, unknown>)[key], [...at, key]),
      );
    case "array":
      return (value as readonly unknown[]).flatMap((item, index) => namedFiles(def.element, item, [...at, String(index)]));
    case "union": {
      // What a value has, only its own kind has.
      const files = def.options.flatMap((option) => namedFiles(option, value, at));
      return [...new Map(files.map((file) => [file.setting, file])).values()];
    }
    case "record":
      return Object.entries(value).flatMap(([key, item]) => namedFiles(def.valueType, item, [...at, key]));
    default:
      return [];
  }
}
