import { fileURLToPath } from "node:url";
import { type Assets, openAssets } from "@seneschal/adapters/assets";
import { type docsContract, type Handlers, type Payload, situation } from "@seneschal/contract";

const SWAGGER_START = `addEventListener("DOMContentLoaded", () => {
  SwaggerUIBundle({ url: "openapi.json", dom_id: "#ui", validatorUrl: null, deepLinking: true });
});
`;
const REDOC_START = `addEventListener("DOMContentLoaded", () => {
  Redoc.init("openapi.json", { disableSearch: false, hideDownloadButton: false }, document.getElementById("ui"));
});
`;

/** Both pages style themselves from script; nothing else may come from anywhere but here. */
const POLICY =
  "default-src 'none'; script-src 'self'; style-src 'self' 'unsafe-inline'; img-src 'self' data:; font-src 'self' data:; " +
  "connect-src 'self'; worker-src blob:; base-uri 'none'; form-action 'none'; frame-ancestors 'none'";

/**
 * Handlers of the reference pages, served from this installation: Swagger UI at `/docs`, ReDoc at `/redoc`, no inline script,
 * not one request to anywhere else. The files are read and compressed when a page is first asked for.
 */
export function docsHandlers(): Handlers<typeof docsContract, undefined> {
  let loaded: Promise<Assets> | undefined;
  const assets = (): Promise<Assets> => {
    loaded ??= loadAssets();
    loaded.catch(() => {
      loaded = undefined;
    });
    return loaded;
  };

  async function page(folder: string, title: string, scripts: readonly string[], styles: readonly string[]): Promise<Payload> {
    const files = await assets();
    const link = (name: string): string => `${folder}/${files.hashedName(name)}`;
    const body = `<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<title>${title}</title>
<link rel="icon" type="image/png" href="${link("favicon.png")}">
${styles.map((name) => `<link rel="stylesheet" href="${link(name)}">\n`).join("")}${scripts.map((name) => `<script src="${link(name)}"></script>\n`).join("")}</head>
<body><main id="ui"></main></body>
</html>
`;
    return { body, headers: { "content-security-policy": POLICY, "referrer-policy": "no-referrer" } };
  }

  async function asset(file: string, acceptEncoding: string | undefined): Promise<Payload> {
    const reply = (await assets()).get(file, acceptEncoding);
    if (reply === undefined) throw situation("not_found", "no such file");
    return reply;
  }

  return {
    docsPage: () => page("docs", "API reference", ["swagger-ui-bundle.js", "swagger-start.js"], ["swagger-ui.css"]),
    docsAsset: (_, { params, request }) => asset(params.file, request.headers["accept-encoding"]),
    redocPage: () => page("redoc", "API reference", ["redoc.standalone.js", "redoc-start.js"], []),
    redocAsset: (_, { params, request }) => asset(params.file, request.headers["accept-encoding"]),
  };
}

function loadAssets(): Promise<Assets> {
  const vendor = (file: string): string => fileURLToPath(new URL(`../../../vendor/${file}`, import.meta.url));
  const script = "text/javascript; charset=utf-8";
  return openAssets([
    { name: "swagger-ui-bundle.js", mediaType: script, file: vendor("swagger-ui/swagger-ui-bundle.js") },
    { name: "swagger-ui.css", mediaType: "text/css; charset=utf-8", file: vendor("swagger-ui/swagger-ui.css") },
    { name: "favicon.png", mediaType: "image/png", file: vendor("swagger-ui/favicon.png") },
    { name: "swagger-start.js", mediaType: script, text: SWAGGER_START },
    { name: "redoc.standalone.js", mediaType: script, file: vendor("redoc/redoc.standalone.js") },
    { name: "redoc-start.js", mediaType: script, text: REDOC_START },
  ]);
}
