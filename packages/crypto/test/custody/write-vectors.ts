import { writeFile } from "node:fs/promises";
import { vectorsText } from "./vectors.ts";

await writeFile(new URL("vectors.json", import.meta.url), await vectorsText());
