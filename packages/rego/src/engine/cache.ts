import { sha256 } from "@noble/hashes/sha2.js";
import { bytesToHex, utf8ToBytes } from "@noble/hashes/utils.js";
import { checkArgument, checkOptions } from "../argument.ts";
import type { Problem } from "../errors.ts";
import type { Source } from "../syntax/ast.ts";
import { type CompileOptions, compileModules, OPTION_KINDS } from "./compile-modules.ts";
import { Policy } from "./policy.ts";

export type CompileResult =
  | { readonly ok: true; readonly policy: Policy }
  | { readonly ok: false; readonly problems: readonly Problem[] };

const MAX_ENTRIES = 64;
const MAX_TEXT = 8_000_000;

/** Policies by the hash of their sources and options; the least recently used go first. */
const cache = new Map<string, { readonly policy: Policy; readonly size: number }>();
let held = 0;

/**
 * Like `compile`, with the answer as a value, and the same policy for the same sources: policies are immutable, so they
 * are shared. Own builtins are not hashed: with them nothing is cached.
 */
export function compileCached(sources: readonly Source[], options: CompileOptions = {}): CompileResult {
  checkOptions("options", options, OPTION_KINDS);
  checkArgument("sources", sources, "array");
  const key = options.builtins === undefined ? keyOf(sources, options) : undefined;
  const known = key === undefined ? undefined : cache.get(key);
  if (key !== undefined && known !== undefined) {
    cache.delete(key);
    cache.set(key, known);
    return { ok: true, policy: known.policy };
  }
  const { compiled, problems } = compileModules(sources, options);
  if (compiled === undefined) return { ok: false, problems };
  const policy = new Policy(compiled, sources, options);
  if (key !== undefined) {
    const size = sources.reduce((n, { source }) => n + source.length, 0);
    cache.set(key, { policy, size });
    held += size;
    for (const [oldest, entry] of cache) {
      if (cache.size <= MAX_ENTRIES && held <= MAX_TEXT) break;
      cache.delete(oldest);
      held -= entry.size;
    }
  }
  return { ok: true, policy };
}

function keyOf(sources: readonly Source[], options: CompileOptions): string {
  const { capabilities } = options;
  const parts = [
    options.allow ?? [],
    options.deny ?? [],
    options.tests === true,
    options.strict === true,
    capabilities === undefined
      ? null
      : [capabilities.builtins, capabilities.features, capabilities.futureKeywords].map((set) => [...set]),
    sources.map(({ name, source, version }) => [name, source, version]),
  ];
  return bytesToHex(sha256(utf8ToBytes(JSON.stringify(parts))));
}
