/** The whole engine as one file, for browsers and edge runtimes: the build replaces this module's output by a bundle. */
export * from "./index.ts";
