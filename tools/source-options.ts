/** What Node is started with to run TypeScript as it is, from the packages' sources, in worker threads too. */
export const sourceOptions = [
  "--import",
  new URL("run-source.mjs", import.meta.url).href,
  "--conditions=@seneschal/source",
] as const;
