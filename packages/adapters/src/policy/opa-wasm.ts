import { execFile } from "node:child_process";
import { mkdtemp, readFile, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { promisify } from "node:util";
import { gunzipSync } from "node:zlib";
import type { Json, JsonObject } from "@seneschal/kernel";
import { checkOptions } from "@seneschal/kernel";
import type { PolicyAnswer, PolicyEngine, PolicySource } from "@seneschal/kernel/ports";
import { check, compileCached } from "@seneschal/rego";
import { missingBackEnd } from "../back-end.ts";

export interface OpaWasmOptions {
  /** Compiles sources to a wasm module with the given entrypoints (`suite/authz/allow`): {@link opaBuild}, for example. */
  readonly build: (sources: readonly PolicySource[], entrypoints: readonly string[]) => Promise<Uint8Array>;
}

/**
 * Policies compiled to WebAssembly by `opa build`, run by OPA's SDK. Sources are checked by this project's own compiler
 * first, which also names the entrypoints. Evaluation in the SDK is synchronous, so one instance serves all calls;
 * `time.now_ns` is the SDK's own.
 */
export function opaWasmPolicyEngine(options: OpaWasmOptions): PolicyEngine {
  checkOptions("options", options, { build: "function" });
  return {
    name: "opa-wasm",
    check: async (sources) => check(sources),
    compile: async (sources) => {
      const own = compileCached(sources);
      if (!own.ok) return own;
      const entrypoints = own.policy.entrypoints.map((path) => path.join("/"));
      const { loadPolicy } = await import("@open-policy-agent/opa-wasm").catch(missingBackEnd);
      let policy: Awaited<ReturnType<typeof loadPolicy>>;
      try {
        policy = await loadPolicy(await options.build(sources, entrypoints));
      } catch (error) {
        const message = error instanceof Error ? error.message : String(error);
        return { ok: false, problems: [{ code: "opa_build_error", message, file: sources[0]?.name ?? "", row: 1, col: 1 }] };
      }
      const known = new Set(entrypoints);
      let present: JsonObject | undefined;
      return {
        ok: true,
        policy: {
          packages: own.policy.packages,
          evaluate: async (path, input, { data }): Promise<PolicyAnswer> => {
            const entrypoint = (path[0] === "data" ? path.slice(1) : path).join("/");
            if (!known.has(entrypoint)) return { kind: "undefined" };
            try {
              // taking data in costs more than most evaluations: the same document is taken in once
              if (data === undefined || data !== present) policy.setData(data ?? {});
              present = data;
              const [first] = policy.evaluate(input, entrypoint) as readonly { readonly result: Json }[];
              return first === undefined ? { kind: "undefined" } : { kind: "defined", value: first.result };
            } catch (error) {
              const message = error instanceof Error ? error.message : String(error);
              return {
                kind: "error",
                code: /conflict|multiple/.test(message) ? "eval_conflict_error" : "eval_internal_error",
                message,
              };
            }
          },
        },
      };
    },
    close: async () => undefined,
  };
}

const run = promisify(execFile);

/** Builds with the `opa` program at `binary`. Rejects with the program's own words. */
export function opaBuild(binary = "opa"): OpaWasmOptions["build"] {
  return async (sources, entrypoints) => {
    const directory = await mkdtemp(join(tmpdir(), "seneschal-opa-"));
    try {
      const files: string[] = [];
      for (const [i, { source }] of sources.entries()) {
        const file = join(directory, `policy-${i}.rego`);
        await writeFile(file, source);
        files.push(file);
      }
      const bundle = join(directory, "bundle.tar.gz");
      const flags = entrypoints.flatMap((entrypoint) => ["-e", entrypoint]);
      await run(binary, ["build", "--v1-compatible", "-t", "wasm", "-o", bundle, ...flags, ...files]);
      return fileOfTar(gunzipSync(await readFile(bundle)), "policy.wasm");
    } finally {
      await rm(directory, { recursive: true, force: true });
    }
  };
}

/** One file of a tar archive (POSIX ustar). */
function fileOfTar(archive: Buffer, name: string): Uint8Array {
  for (let at = 0; at + 512 <= archive.length; ) {
    const path = archive.toString("utf8", at, at + 100).replace(/\0.*$/s, "");
    const size = Number.parseInt(archive.toString("latin1", at + 124, at + 136), 8) || 0;
    if (path.replace(/^\//, "") === name) return archive.subarray(at + 512, at + 512 + size);
    at += 512 + Math.ceil(size / 512) * 512;
  }
  throw new Error(`the bundle holds no ${name}`);
}
