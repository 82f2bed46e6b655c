import type { Import, Location, Module } from "../syntax/ast.ts";
import { pathText, type Report, type RuleNode } from "./tree.ts";

/** What a global name stands for: a path below `data` or `input`. */
export interface Global {
  readonly root: "data" | "input";
  readonly path: readonly string[];
}

/** The names that a module's rules can use: its imports and the rules of its package. */
export class Symbols {
  readonly #imports = new Map<string, Global>();
  readonly #packagePath: readonly string[];
  readonly #packageNode: RuleNode | undefined;
  readonly #rules = new Map<string, Global | undefined>();
  readonly #imported: readonly (Import & { readonly name: string })[];
  readonly #used = new Set<string>();

  constructor(
    module: Pick<Module, "name" | "version" | "packagePath" | "imports"> | undefined,
    root: RuleNode,
    report: Report,
    strict = false,
  ) {
    this.#packagePath = module?.packagePath ?? [];
    this.#packageNode = module === undefined ? undefined : root.find(module.packagePath);
    const imported: (Import & { readonly name: string })[] = [];
    const places = new Map<string, Location>();
    for (const { path, alias, loc } of module?.imports ?? []) {
      const [first, ...rest] = path;
      if (first !== "data" && first !== "input") continue;
      const name = alias ?? path.at(-1) ?? "";
      if (rest.length === 0 && alias === undefined) continue;
      // v0 lets a later import replace an earlier one
      if (places.has(name) && (module?.version !== "v0" || strict)) {
        report("rego_compile_error", `import must not shadow import ${pathText(path).slice(5)}`, module?.name ?? "", loc);
      }
      places.set(name, loc);
      imported.push({ path, alias, loc, name });
      this.#imports.set(name, { root: first, path: rest });
    }
    this.#imported = imported;
  }

  /** Undefined for names that are local variables. */
  resolve(name: string): Global | undefined {
    if (name === "data" || name === "input") return { root: name, path: [] };
    const imported = this.#imports.get(name);
    if (imported !== undefined) {
      this.#used.add(name);
      return imported;
    }
    if (!this.#rules.has(name)) this.#rules.set(name, this.#ofPackage(name));
    return this.#rules.get(name);
  }

  /** The imports that no name was resolved by. */
  get unused(): readonly Import[] {
    return this.#imported.filter(({ name }) => !this.#used.has(name));
  }

  #ofPackage(name: string): Global | undefined {
    const node = this.#packageNode?.children.get(name);
    if (node === undefined) return undefined;
    for (const below of node.subtree()) {
      if (below.rules !== undefined && !below.isPackage) return { root: "data", path: [...this.#packagePath, name] };
    }
    return undefined;
  }
}
