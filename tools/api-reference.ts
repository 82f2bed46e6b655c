/**
 * `npm run api`: the reference of every entry of every package, from their doc comments, in docs/api. Fails for a link of a comment that leads
 * nowhere.
 */
import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { Application, type TypeDocOptions } from "typedoc";

const packages = readdirSync("packages").filter((name) => name !== "cli");
const entryPoints = packages.flatMap((name) => {
  const { exports } = JSON.parse(readFileSync(join("packages", name, "package.json"), "utf8")) as {
    readonly exports: Readonly<Record<string, string | Readonly<Record<string, string>>>>;
  };
  return Object.values(exports).flatMap((entry) => {
    const source = typeof entry === "string" ? undefined : entry["@seneschal/source"];
    return source === undefined ? [] : [join("packages", name, source)];
  });
});

const options: TypeDocOptions = {
  name: "Seneschal",
  entryPoints,
  tsconfig: "tsconfig.json",
  // `npm run typecheck` has read the same sources.
  skipErrorChecking: true,
  readme: "none",
  out: "docs/api",
  cleanOutputDir: true,
  excludePrivate: true,
  excludeExternals: true,
  disableSources: true,
  validation: { invalidLink: true, notExported: false, notDocumented: false },
  treatValidationWarningsAsErrors: true,
};

const app = await Application.bootstrapWithPlugins(options);
const project = await app.convert();
// By what they are imported as.
for (const entry of project?.children ?? []) entry.name = `@seneschal/${entry.name.replace("/src", "")}`;
if (project !== undefined) app.validate(project);
if (project === undefined || app.logger.hasErrors() || app.logger.hasWarnings()) process.exitCode = 1;
else await app.generateOutputs(project);
