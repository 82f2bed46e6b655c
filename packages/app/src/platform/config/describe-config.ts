import type { z } from "zod";
import { leaves } from "./leaves.ts";

/** What is in force by dotted path, `null` where nothing is set; secrets and what lies inside of them are masked. */
export function describeConfig(schema: z.ZodObject, config: unknown): Readonly<Record<string, unknown>> {
  return Object.fromEntries(
    leaves(schema).map(({ path, secret }) => {
      const value = path.reduce<unknown>((tree, key) => (tree as Record<string, unknown> | undefined)?.[key], config);
      return [path.join("."), value === undefined ? null : secret ? "********" : value];
    }),
  );
}
