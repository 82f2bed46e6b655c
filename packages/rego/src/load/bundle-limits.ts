import { checkArgument, checkOptions } from "../argument.ts";
import { LoadError } from "./load-error.ts";

/** What a bundle may hold once it is unpacked. */
export interface BundleLimits {
  /** Of all its files together, and so of each: OPA's `size_limit_bytes`. */
  readonly bytes: number;
  readonly files: number;
}

/**
 * 64 MiB in 10,000 files, less than OPA's 1 GiB: of the smallest JSON values, `{}`, that is what Node reads with the memory it takes by itself.
 *
 * @example
 * ```ts
 * import { DEFAULT_BUNDLE_LIMITS } from "@seneschal/rego";
 * console.log(DEFAULT_BUNDLE_LIMITS.bytes); // 67108864
 * ```
 */
export const DEFAULT_BUNDLE_LIMITS: BundleLimits = { bytes: 64 * 1024 * 1024, files: 10_000 };

/**
 * Judges the files of a bundle one after another, before they are read: what it gives takes the path and the size of each in bytes and
 * throws {@link LoadError} `bundle_limit`, by the name of the file that is too much.
 *
 * @example
 * ```ts
 * import { bundleIntake } from "@seneschal/rego";
 * const admit = bundleIntake({ bytes: 10 });
 * admit("p.rego", 9);
 * try {
 *   admit("data.json", 2);
 * } catch (error) {
 *   console.log((error as Error).message); // data.json: with it the bundle has more than 10 bytes
 * }
 * ```
 */
export function bundleIntake(limits: Partial<BundleLimits> = {}): (path: string, bytes: number) => void {
  checkOptions("limits", limits, { bytes: "number?", files: "number?" });
  const { bytes: mostBytes, files: mostFiles } = { ...DEFAULT_BUNDLE_LIMITS, ...limits };
  let bytesLeft = mostBytes;
  let filesLeft = mostFiles;
  return (path, bytes) => {
    checkArgument("path", path, "string");
    checkArgument("bytes", bytes, "number");
    bytesLeft -= bytes;
    filesLeft--;
    // said of NaN too, which is no size
    if (!(bytesLeft >= 0)) throw new LoadError("bundle_limit", `${path}: with it the bundle has more than ${mostBytes} bytes`);
    if (!(filesLeft >= 0)) throw new LoadError("bundle_limit", `${path}: with it the bundle has more than ${mostFiles} files`);
  };
}
