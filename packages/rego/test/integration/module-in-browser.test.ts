import { existsSync } from "node:fs";
import { compile, compileToJavaScript } from "@seneschal/rego";
import { chromium } from "playwright-core";
import { describe, expect, test } from "vitest";
import { bundled } from "../bundled.ts";

const browserPath = [process.env["CHROMIUM"], "/usr/bin/chromium", "/usr/bin/google-chrome"].find(
  (path) => path !== undefined && existsSync(path),
);
if (browserPath === undefined) console.warn("no Chromium: no policy compiled ahead is evaluated in a page");

/** A builtin of each library that has its own: re2js, yaml, curves, graphql. */
const source = `package page

default allow := false

allow if {
	regex.match("^/public/", input.path)
	yaml.unmarshal("a: 1").a == 1
	graphql.schema_is_valid("type Query { a: Int }")
	not crypto.x509.parse_certificates("none")
	json.match_schema({"a": 1}, {"type": "object"})[0]
}

greetings contains sprintf("%v, %s", [crypto.sha256("a"), name]) if some name in input.names
`;
const input = { path: "/public/x", names: ["Ada", "Bob"] };

describe.skipIf(browserPath === undefined)("a policy compiled ahead in a page", () => {
  test("answers what it answers here under a content security policy that lets no code be made of text", async () => {
    const sources = [{ name: "page.rego", source }];
    const here = compile(sources).evaluate("data.page", input);
    expect(here).toMatchObject({ kind: "defined", value: { allow: true } });
    const module = compileToJavaScript(sources, { entrypoints: ["data.page"] });
    const { code } = await bundled(`${module}
let refused = "";
try { new Function("return 1")(); } catch ({ name }) { refused = name; }
const answer = load().evaluate("data.page", ${JSON.stringify(input)});
document.querySelector("output").textContent = JSON.stringify({ refused, answer });
`);
    const browser = await chromium.launch({ executablePath: browserPath ?? "", args: ["--no-sandbox"] });
    try {
      const page = await browser.newPage();
      const problems: string[] = [];
      page.on("pageerror", (error) => problems.push(String(error)));
      await page.route("http://localhost/**", (route) =>
        route.request().url().endsWith("/app.js")
          ? route.fulfill({ contentType: "text/javascript", body: code })
          : route.fulfill({
              contentType: "text/html",
              headers: { "content-security-policy": "default-src 'none'; script-src 'self'" },
              body: '<!doctype html><output></output><script type="module" src="/app.js"></script>',
            }),
      );
      await page.goto("http://localhost/");
      const output = page.locator("output:not(:empty)");
      await output.waitFor({ state: "attached" });
      expect(JSON.parse((await output.textContent()) ?? "")).toEqual({ refused: "EvalError", answer: here });
      expect(problems).toEqual([]);
    } finally {
      await browser.close();
    }
  });
});
