import { createRequire } from "node:module";
import { type Assets, openAssets } from "@seneschal/adapters/assets";
import { type Payload, situation } from "@seneschal/contract";
import { PAGE_SCRIPT, PAGE_STYLE } from "./page-files.ts";

const require = createRequire(import.meta.url);
const POLICY =
  "default-src 'none'; script-src 'self'; style-src 'self' 'unsafe-inline'; img-src 'self' data:; base-uri 'none'; form-action 'none'; frame-ancestors 'none'";

let loaded: Promise<Assets> | undefined;

function assets(): Promise<Assets> {
  loaded ??= openAssets([
    {
      name: "cytoscape.js",
      mediaType: "text/javascript; charset=utf-8",
      file: require.resolve("cytoscape/dist/cytoscape.min.js"),
    },
    { name: "lineage.js", mediaType: "text/javascript; charset=utf-8", text: PAGE_SCRIPT },
    { name: "lineage.css", mediaType: "text/css; charset=utf-8", text: PAGE_STYLE },
  ]);
  loaded.catch(() => {
    loaded = undefined;
  });
  return loaded;
}

/** A page with an interactive graph of the given lineage; `tiers`, lowest first, choose the colours. The data stand in the page as JSON that is not run; nothing comes from elsewhere. */
export async function lineagePage(
  lineage: { readonly resource_id: string },
  tiers: readonly string[],
  basePath: string,
): Promise<Payload> {
  const files = await assets();
  const link = (name: string) => `${basePath}/lineage-assets/${files.hashedName(name)}`;
  const data = JSON.stringify({ ...lineage, scale: tiers }).replace(
    /[<>&\u2028\u2029]/g,
    (c) => `\\u${c.charCodeAt(0).toString(16).padStart(4, "0")}`,
  );
  const body = `<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<title>Lineage of ${escaped(lineage.resource_id)}</title>
<link rel="icon" href="data:,">
<link rel="stylesheet" href="${link("lineage.css")}">
<script src="${link("cytoscape.js")}" defer></script>
<script src="${link("lineage.js")}" defer></script>
</head>
<body>
<header><h1>Lineage of <code>${escaped(lineage.resource_id)}</code></h1><ul id="legend" aria-label="Tiers"></ul></header>
<main><div id="graph" role="img" aria-label="Lineage graph"></div><aside id="details" aria-live="polite"><p>Choose a resource or an edge.</p></aside></main>
<script type="application/json" id="lineage">${data}</script>
</body>
</html>
`;
  return { body, headers: { "content-security-policy": POLICY, "referrer-policy": "no-referrer" } };
}

/** A file of the page. */
export async function lineageAsset(file: string, acceptEncoding: string | undefined): Promise<Payload> {
  const reply = (await assets()).get(file, acceptEncoding);
  if (reply === undefined) throw situation("not_found", "no such file");
  return reply;
}

function escaped(text: string): string {
  return text.replace(/[&<>"']/g, (c) => `&#${c.charCodeAt(0)};`);
}
