import { writeFile } from "node:fs/promises";
import { vectorsText } from "./vectors.ts";

await writeFile(new URL("witness-vectors.json", import.meta.url), await vectorsText());
