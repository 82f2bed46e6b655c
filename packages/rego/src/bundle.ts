/** The whole engine as one file, for browsers, edge runtimes and what starts often: the build replaces this module's output by a bundle. */
export * from "./index.ts";
