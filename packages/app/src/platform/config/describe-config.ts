import type { z } from "zod";
import { leaves } from "./leaves.ts";

/** What is in force, one line a setting, `dotted.path: value`; secrets and what lies inside of them are masked. */
export function describeConfig(schema: z.ZodObject, config: unknown): readonly string[] {
  return leaves(schema).map(({ path, secret }) => {
    const value = path.reduce<unknown>((tree, key) => (tree as Record<string, unknown> | undefined)?.[key], config);
    const shown = value === undefined ? "(unset)" : secret ? "********" : JSON.stringify(value);
    return `${path.join(".")}: ${shown}`;
  });
}
