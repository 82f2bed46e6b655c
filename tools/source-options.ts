import { join, relative } from "node:path";
import { fileURLToPath } from "node:url";

/** What Node is started with to run TypeScript as it is, from the packages' sources, in worker threads too. */
export const sourceOptions = [
  "--import",
  new URL("run-source.mjs", import.meta.url).href,
  "--conditions=@seneschal/source",
] as const;

const here = fileURLToPath(new URL("..", import.meta.url));

/** What Node is given to run a script of this checkout, or the same one of another checkout. */
export function sourceCommand(script: URL, checkout = here): readonly string[] {
  const there = (url: string): string => url.replace(here, join(checkout, "/"));
  return [...sourceOptions.map(there), join(checkout, relative(here, fileURLToPath(script)))];
}
