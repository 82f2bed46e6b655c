import { readFileSync } from "node:fs";

const manifest = JSON.parse(readFileSync(new URL("../package.json", import.meta.url), "utf8")) as { readonly version: string };

/** The version that the command and the services report: that of this package. */
export const { version } = manifest;
