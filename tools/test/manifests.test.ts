/** What the packages say of themselves is true. */
import { existsSync, readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, test } from "vitest";
import { ROOT } from "./fixture-tree.ts";

const names = readdirSync(join(ROOT, "packages")).sort();
const json = (file: string) => JSON.parse(readFileSync(join(ROOT, file), "utf8"));

/** Back ends that are compiled on the machine, or fetched by a script of their own, or larger than all else: they are for those to install who use them, and integration tests fetch them. */
const FETCHED = ["onnxruntime-node", "onnxruntime-web", "pkcs11js"];

const examples = new Map(
  readdirSync(join(ROOT, "examples"))
    .filter((file) => file.endsWith(".ts"))
    .map((file) => [readFileSync(join(ROOT, "examples", file), "utf8"), file]),
);
const changesets = readdirSync(join(ROOT, ".changeset"))
  .filter((file) => file.endsWith(".md"))
  .map((file) => readFileSync(join(ROOT, ".changeset", file), "utf8"))
  .join("\n");

test("the build lists every package, after those that it needs", () => {
  const listed = (json("tsconfig.build.json").references as { path: string }[]).map(({ path }) => path.replace("packages/", ""));
  expect([...listed].sort()).toEqual(names);
  for (const [i, name] of listed.entries()) {
    const needs = (json(`packages/${name}/tsconfig.json`).references ?? []) as { path: string }[];
    for (const { path } of needs) expect(listed.slice(0, i), `${name} needs ${path}`).toContain(path.replace("../", ""));
  }
});

describe.each(names)("%s", (name) => {
  const manifest = json(`packages/${name}/package.json`);
  const entries = Object.entries(manifest.exports ?? {}) as [string, Record<string, string>][];
  const text = (file: string) => readFileSync(join(ROOT, "packages", name, file), "utf8");

  test("is called by its folder", () => {
    expect(manifest.name).toBe(`@seneschal/${name}`);
  });

  test("exports source, types and code, in this order, each from its own source file, and its manifest", () => {
    for (const [door, targets] of entries) {
      if (door === "./package.json") continue;
      const source = targets["@seneschal/source"] ?? "";
      expect(Object.keys(targets), door).toEqual(["@seneschal/source", "types", "default"]);
      expect(existsSync(join(ROOT, "packages", name, source)), `${door}: ${source}`).toBe(true);
      const built = source.replace("./src/", "./dist/").replace(/\.ts$/, "");
      expect([targets["types"], targets["default"]], door).toEqual([`${built}.d.ts`, `${built}.js`]);
    }
  });

  test("says who made it, where it comes from and what it is about, and can be published", () => {
    expect(manifest).toMatchObject({
      description: expect.stringMatching(/.{10,}/),
      keywords: expect.arrayContaining(["seneschal"]),
      homepage: expect.stringMatching(/^https:/),
      bugs: expect.stringMatching(/^https:/),
      license: "Apache-2.0",
      repository: { type: "git", url: expect.stringMatching(/^git\+https:/), directory: `packages/${name}` },
      publishConfig: { access: "public", provenance: true },
      files: expect.arrayContaining(["dist", "src", "CHANGELOG.md"]),
    });
    expect(manifest.keywords.length).toBeGreaterThanOrEqual(3);
    if (manifest.exports !== undefined) expect(manifest.exports["./package.json"]).toBe("./package.json");
  });

  test("carries the licence, a changelog, and a changeset or a release that speaks of it", () => {
    expect(text("LICENSE")).toBe(readFileSync(join(ROOT, "LICENSE"), "utf8"));
    const changelog = text("CHANGELOG.md");
    expect(changelog.split("\n")[0]).toBe(`# ${manifest.name}`);
    expect(changelog.includes(`\n## ${manifest.version}\n`) || changesets.includes(`"${manifest.name}": `)).toBe(true);
  });

  test("has a README: how to install it, every entry, and programs that are examples, with what they need", () => {
    const page = text("README.md");
    expect(page.split("\n")[0]).toBe(`# ${manifest.name}`);
    const install = [...page.matchAll(/^npm install (?:--global |--save-dev )?(.*)$/gm)].flatMap(([, line = ""]) =>
      line.split(" "),
    );
    expect(install[0]).toBe(manifest.name);
    const imports = entries.filter(([door]) => door !== "./package.json").map(([door]) => manifest.name + door.slice(1));
    expect([...page.matchAll(/^\| `([^`]+)`/gm)].map(([, entry]) => entry).sort(), "the table of entries").toEqual(
      imports.sort(),
    );
    if (manifest.exports === undefined) return; // A command: its page is run by its own tests.
    const programs = [...page.matchAll(/^```ts\n([\s\S]*?)^```/gm)].map(([, block = ""]) => block);
    expect(programs).not.toEqual([]);
    for (const program of programs) {
      expect(examples.get(program), "the program is a file of examples/, letter by letter").toBeDefined();
      for (const [, from = ""] of program.matchAll(/from "((?:@[^/"]+\/)?[^/"]+)/g))
        if (!from.startsWith("node:")) expect(install, `${examples.get(program)} imports it`).toContain(from);
    }
  });

  test("names files that exist in its README", () => {
    for (const [, link = ""] of text("README.md").matchAll(/\]\(((?!https?:)[^)#]+)/g))
      expect(existsSync(join(ROOT, "packages", name, link)), link).toBe(true);
  });

  test("references exactly the packages that it depends on", () => {
    const needs = Object.keys({ ...manifest.dependencies, ...manifest.peerDependencies })
      .filter((dependency) => dependency.startsWith("@seneschal/"))
      .map((dependency) => dependency.replace("@seneschal/", "../"));
    const references = ((json(`packages/${name}/tsconfig.json`).references ?? []) as { path: string }[]).map(({ path }) => path);
    expect(references.sort()).toEqual(needs.sort());
  });

  test("asks of a host for what it was tested with or newer, and pins what it ships or is developed with", () => {
    const { dependencies = {}, peerDependencies = {}, devDependencies = {} } = manifest;
    const ranges = name === "cli" ? {} : dependencies;
    for (const [dependency, range] of Object.entries<string>({ ...ranges, ...peerDependencies })) {
      if (dependency.startsWith("@seneschal/")) expect(range, dependency).toBe(manifest.version);
      else if (!FETCHED.includes(dependency))
        expect(
          range.split(" || ").some((one) => admits(one, lockedVersion(name, dependency))),
          `${dependency} ${range}`,
        ).toBe(true);
    }
    const pinned = { ...(name === "cli" ? dependencies : {}), ...devDependencies };
    for (const [dependency, version] of Object.entries<string>(pinned))
      if (!dependency.startsWith("@seneschal/")) expect(version, dependency).toBe(lockedVersion(name, dependency));
  });
});

/** The version that is tested here. */
function lockedVersion(name: string, dependency: string): string {
  const { packages } = json("package-lock.json");
  const place = `node_modules/${dependency}`;
  return (packages[`packages/${name}/${place}`] ?? packages[place])?.version ?? "not locked";
}

/** `^` and `~` with a whole version, as npm reads them: the first number that is not 0 stays (`~`: the second as well), the rest may grow. */
function admits(range: string, version: string): boolean {
  const numbers = (text: string) => text.split(".").map(Number) as [number, number, number];
  const [from, is] = [numbers(range.slice(1)), numbers(version)];
  const first = from.findIndex((part) => part > 0);
  const kept = range.startsWith("~") ? Math.max(1, first) : range.startsWith("^") ? first : 2;
  const grown = from.map((part, i) => (is[i] ?? 0) - part).find((difference) => difference !== 0) ?? 0;
  return from.slice(0, kept + 1).every((part, i) => part === is[i]) && grown >= 0;
}

test("every example stands on a page", () => {
  const pages = [
    ...names.map((name) => `packages/${name}/README.md`),
    ...readdirSync(join(ROOT, "docs")).map((file) => `docs/${file}`),
  ]
    .filter((file) => file.endsWith(".md"))
    .map((file) => readFileSync(join(ROOT, file), "utf8"))
    .join("\n");
  expect([...examples].filter(([text]) => !pages.includes(`\`\`\`ts\n${text}\`\`\`\n`)).map(([, file]) => file)).toEqual([]);
});

/** What the adapters bring along: no back end that an operator chooses, but what every service works with. */
const BROUGHT: Readonly<Record<string, string>> = {
  "@opentelemetry/api": "the interface of traces; the SDK behind it is a peer",
  "hash-wasm": "checksums of what is stored",
  hyparquet: "files that are classified",
  "hyparquet-compressors": "files that are classified",
  jose: "tokens of callers",
  pino: "the log",
  "prom-client": "the metrics",
  undici: "requests, with the client certificate of each",
};

test("a dependency of the adapters is a back end, thus an optional peer, unless every service works with it", () => {
  const { dependencies } = json("packages/adapters/package.json");
  expect(Object.keys(dependencies).filter((name) => !name.startsWith("@seneschal/"))).toEqual(Object.keys(BROUGHT));
});

test("every back end of the adapters is an optional peer that the command ships, and no module is unreadable without it", () => {
  const { peerDependencies, peerDependenciesMeta } = json("packages/adapters/package.json");
  const backEnds = Object.keys(peerDependencies).filter((name) => !name.startsWith("@seneschal/"));
  expect(backEnds.filter((name) => peerDependenciesMeta[name]?.optional !== true)).toEqual([]);
  const shipped = json("packages/cli/package.json").dependencies;
  expect(backEnds.filter((name) => shipped[name] === undefined)).toEqual(FETCHED);
  const src = join(ROOT, "packages/adapters/src");
  for (const file of readdirSync(src, { recursive: true, encoding: "utf8" }).filter((file) => file.endsWith(".ts")))
    for (const [statement, from = ""] of readFileSync(join(src, file), "utf8").matchAll(
      /^(?:import|export) [^;]*? from "([^"]+)";/gm,
    ))
      if (backEnds.some((name) => from === name || from.startsWith(`${name}/`)))
        expect(statement, `${file} loads ${from} when it is used, by backEnd`).toMatch(/^(import|export) type /);
});

test("the README of the adapters names for each entry the back ends that it loads", () => {
  const { exports, peerDependencies } = json("packages/adapters/package.json");
  const src = join(ROOT, "packages/adapters");
  const loadedBy = (file: string, seen = new Set<string>()): ReadonlySet<string> => {
    if (seen.has(file) || !file.endsWith(".ts")) return seen;
    const code = readFileSync(seen.add(file) && file, "utf8");
    const values =
      /^(?:import|export) (?!type )[^;]*?from "([^"]+)"|(?<!typeof )import\("([^"]+)"\)|backEnd(?:<.*>)?\("([^"]+)"\)|new URL\("(\.[^"]+)", import\.meta\.url\)/gm;
    for (const [, ...from] of code.matchAll(values)) {
      const name = from.find((each) => each !== undefined) ?? "";
      // A thread's module is named without its ending.
      if (name.startsWith(".")) loadedBy(join(file, "..", /\.\w+$/.test(name) ? name : `${name}.ts`), seen);
      else seen.add(Object.keys(peerDependencies).find((peer) => name === peer || name.startsWith(`${peer}/`)) ?? "");
    }
    return seen;
  };
  const rows = readFileSync(join(src, "README.md"), "utf8").matchAll(/^\| `@seneschal\/adapters(.*?)` \|.*\|(.*)\|$/gm);
  const said = [...rows].map(([, entry, cell = ""]) => [
    `.${entry}`,
    [...cell.matchAll(/`([^`]+)`/g)].map(([, name]) => name).sort(),
  ]);
  const found = said.map(([entry]) => {
    const loaded = loadedBy(join(src, exports[entry as string]["@seneschal/source"]));
    return [entry, [...loaded].filter((name) => name in peerDependencies).sort()];
  });
  expect(said).toEqual(found);
});

test("zod is imported as a namespace: of that, bundlers keep what is used", () => {
  for (const name of names) {
    const src = join(ROOT, "packages", name, "src");
    for (const file of readdirSync(src, { recursive: true, encoding: "utf8" }).filter((file) => file.endsWith(".ts")))
      for (const [statement] of readFileSync(join(src, file), "utf8").matchAll(/^import .* from "zod";/gm))
        expect(statement, `${name}/src/${file}`).toMatch(/^import (type )?\* as z from/);
  }
});

test("a private member is private when it runs, not to the compiler alone", () => {
  for (const name of names) {
    const src = join(ROOT, "packages", name, "src");
    for (const file of readdirSync(src, { recursive: true, encoding: "utf8" }).filter((file) => file.endsWith(".ts")))
      expect(readFileSync(join(src, file), "utf8"), `${name}/src/${file}`).not.toMatch(/^ +private (?!constructor\b)/m);
  }
});

test("texts become bytes in one place: the kernel's, but for the engine, which has no kernel", () => {
  const found = names.flatMap((name) => {
    const src = join("packages", name, "src");
    const files = readdirSync(join(ROOT, src), { recursive: true, encoding: "utf8" }).filter((file) => file.endsWith(".ts"));
    const encoding = /^(?! \* ).*(?:new (?:\(.*\)\.)?TextEncoder\b|\butf8ToBytes\b)/m;
    return files.map((file) => `${src}/${file}`).filter((file) => encoding.test(readFileSync(join(ROOT, file), "utf8")));
  });
  expect(found.filter((file) => !file.startsWith("packages/rego/"))).toEqual(["packages/kernel/src/utf8.ts"]);
});

/** What runs on the machine of whoever installs a package, and why it may. */
const INSTALL_SCRIPTS: Readonly<Record<string, string>> = {
  "classic-level": "chooses the binary that it brings along, or builds it; calls nobody",
  protobufjs: "compares its version with the one that is asked for, and warns; calls nobody",
};

test("no production dependency runs a script when it is installed but those that are listed with a reason", () => {
  type Entry = { dev?: boolean; devOptional?: boolean; hasInstallScript?: boolean };
  const locked = Object.entries(json("package-lock.json").packages as Record<string, Entry>);
  const scripts = locked.filter(([, { dev, hasInstallScript }]) => hasInstallScript === true && dev !== true);
  expect(scripts.map(([path]) => path.split("node_modules/").at(-1)).sort()).toEqual(Object.keys(INSTALL_SCRIPTS).sort());
});

test("no package has an install script of its own", () => {
  for (const name of names) {
    const { scripts = {} } = json(`packages/${name}/package.json`) as { scripts?: Record<string, string> };
    expect(Object.keys(scripts).filter((script) => /^(pre|post)?(install|prepare)$/.test(script))).toEqual([]);
  }
});

test("one dependency has one range where it is imported, and one version where it is pinned", () => {
  const asked = new Map<string, Set<string>>();
  for (const manifest of [json("package.json"), ...names.map((name) => json(`packages/${name}/package.json`))]) {
    const { dependencies, peerDependencies, devDependencies } = manifest as Record<string, Record<string, string>>;
    for (const [dependency, version] of [dependencies, peerDependencies, devDependencies].flatMap((some) =>
      Object.entries(some ?? {}),
    )) {
      const kind = `${dependency}, ${/^\d/.test(version) ? "pinned" : "asked for"}`;
      asked.set(kind, (asked.get(kind) ?? new Set()).add(version));
    }
  }
  expect([...asked].filter(([, set]) => set.size > 1).map(([kind, set]) => [kind, ...set])).toEqual([]);
});
