import { existsSync, readdirSync, readFileSync } from "node:fs";
import type { FuzzTarget } from "./target.ts";

const here = new URL("./", import.meta.url);

/** The names of all targets. */
export function targetNames(): readonly string[] {
  return readdirSync(new URL("targets/", here))
    .filter((file) => file.endsWith(".ts"))
    .map((file) => file.slice(0, -".ts".length))
    .sort();
}

export async function targetNamed(name: string): Promise<FuzzTarget> {
  const module = (await import(new URL(`targets/${name}.ts`, here).href)) as { target: FuzzTarget };
  return module.target;
}

/** The inputs that a target starts from, and that found something once. */
export function corpusOf(name: string): readonly { readonly file: string; readonly bytes: Uint8Array }[] {
  const dir = new URL(`corpus/${name}/`, here);
  if (!existsSync(dir)) return [];
  return readdirSync(dir)
    .sort()
    .map((file) => ({ file, bytes: new Uint8Array(readFileSync(new URL(file, dir))) }));
}
