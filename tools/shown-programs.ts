/**
 * The programs that doc comments and pages show. An `@example` is a program. The blocks of a page are, in their order, one program, but for those that
 * are a file of `examples/`, letter by letter. What a line logs stands behind it: `console.log(1 + 1); // 2`.
 */
import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";

const ROOT = new URL("../", import.meta.url).pathname;

export interface ShownProgram {
  /** Where it stands. */
  readonly file: string;
  /** Of a file without an ending, one for each program. */
  readonly name: string;
  readonly code: string;
}

/** Every page that is published or linked to. */
export const pages: readonly string[] = [
  ...["README.md", "CONTRIBUTING.md", "SECURITY.md"],
  ...readdirSync(join(ROOT, "docs")).flatMap((name) => (name.endsWith(".md") ? [`docs/${name}`] : [])),
  ...readdirSync(join(ROOT, "packages")).map((name) => `packages/${name}/README.md`),
  "packages/app/src/gateway/README.md",
];

/** The blocks of a page that are programs of ours, without those that are an example. */
export function blocksOf(page: string): readonly string[] {
  const shown = [...readFileSync(join(ROOT, page), "utf8").matchAll(/^ *```ts\n([\s\S]*?)^ *```/gm)].map(
    ([, block = ""]) => block,
  );
  return shown.filter((block) => !examples().has(block));
}

/** The program of a page; undefined when it shows none but examples. */
export function pageProgram(page: string): ShownProgram | undefined {
  const code = blocksOf(page).join("\n");
  return code === "" ? undefined : { file: page, name: nameOf(page), code };
}

/** The examples of all doc comments. Throws for one that is not a block `ts` right behind its tag. */
export function commentPrograms(): readonly ShownProgram[] {
  const sources = readdirSync(join(ROOT, "packages"), { recursive: true, encoding: "utf8" })
    .filter((file) => /^[a-z-]+[/]src[/].*[.]ts$/.test(file))
    .map((file) => `packages/${file}`);
  return sources.flatMap((file) => {
    const text = readFileSync(join(ROOT, file), "utf8");
    const shown = [...text.matchAll(/^ *\* @example\n *\* ```ts\n((?: *\*.*\n)*?) *\* ```/gm)];
    const tags = text.match(/^ *(?:\/\*\*|\*) *@example\b(?!\.)/gm)?.length ?? 0;
    if (tags !== shown.length) throw new Error(`${file}: an @example is followed by one block of ts`);
    return shown.map(([, lines = ""], i) => ({
      file,
      name: `${nameOf(file)}-${i}`,
      code: lines.replace(/^ *\* ?/gm, ""),
    }));
  });
}

/** Lines that a program logs, as its comments say; undefined for one that says nothing. Line breaks within are written `\n`. */
export function saidOf(code: string): readonly (string | undefined)[] {
  return [...code.matchAll(/^.*\bconsole\.log\(.*$/gm)].map(([line]) => line.split("; // ")[1]);
}

const nameOf = (file: string): string => file.replace(/\.\w+$/, "").replace(/[^a-zA-Z0-9]+/g, "-");

let files: ReadonlySet<string> | undefined;
const examples = (): ReadonlySet<string> => {
  const folder = join(ROOT, "examples");
  files ??= new Set(
    readdirSync(folder)
      .filter((file) => file.endsWith(".ts"))
      .map((file) => readFileSync(join(folder, file), "utf8")),
  );
  return files;
};
