import { createRequire } from "node:module";
import { CodedError } from "@seneschal/kernel";

/** What the loading of a back end can end with. */
export type BackEndErrorCode = "back_end_missing";

const require = createRequire(import.meta.url);

/**
 * A package that only those install who use it: an optional peer of this one, loaded at its first use.
 *
 * The function that it gives throws CodedError `back_end_missing`, with the line that installs it, where it is not there.
 */
export function backEnd<Module>(name: string): () => Module {
  let loaded: Module | undefined;
  return () => {
    try {
      loaded ??= require(name) as Module;
      return loaded;
    } catch (error) {
      return missingBackEnd(error);
    }
  };
}

/** The same for `import(...).catch(missingBackEnd)`. What is no missing back end is thrown as it is. */
export function missingBackEnd(error: unknown): never {
  const { code = "", message = "" } = error as { code?: string; message?: string };
  const name = /^Cannot find (?:package|module) '([^']+)'/.exec(message)?.[1];
  const { peerDependencies } = require("@seneschal/adapters/package.json") as { peerDependencies: Record<string, string> };
  const range = name === undefined ? undefined : peerDependencies[name];
  if (name === undefined || range === undefined || !code.endsWith("MODULE_NOT_FOUND")) throw error;
  throw new CodedError<BackEndErrorCode>(
    "back_end_missing",
    `${name} is not installed: npm install "${name}@${range}"`,
    { package: name, range },
    error,
  );
}
