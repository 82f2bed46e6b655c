import { foldedName } from "./folded-name.ts";

/**
 * The parts of a table's name, folded, the table itself last: of a dotted name, of an id with slashes or colons (`postgres://db:5432/shop.orders`), of one quoted name that holds dots. Without the parts
 * that say nothing about which table it is: empty ones (`db..orders`), a link (`orders@remote`), a partition (`orders$20260301`).
 */
function nameParts(name: string): readonly string[] {
  // A link may have dots of its own.
  const parts = foldedName(name)
    .replace(/(?<=[^@/:\\])@[^@/:\\]*$/, "")
    .split(/[./:\\]+/)
    .map((part) => part.replace(/["'`[\]\s]+/g, ""))
    .filter((part) => part !== "");
  const last = (parts.pop() ?? "").replace(/^(.+?)(?:@.*|\$\d+)$/, "$1");
  return [...parts, last];
}

/** True when two names may mean one table: each part of the shorter one stands in the longer one, in the same order, and the last ones are the same. */
function mayBeOne(a: readonly string[], b: readonly string[]): boolean {
  const [short, long] = a.length <= b.length ? [a, b] : [b, a];
  if (short.at(-1) !== long.at(-1)) return false;
  let at = long.length - 2;
  for (let i = short.length - 2; i >= 0; i--, at--) {
    while (at >= 0 && long[at] !== short[i]) at--;
    if (at < 0) return false;
  }
  return true;
}

/** Names of tables, found by each more or less qualified, quoted or re-cased way of writing them. */
export class TableNames {
  readonly #byTable = new Map<string, Map<string, readonly string[]>>();

  add(name: string): void {
    const parts = nameParts(name);
    const table = parts.at(-1) ?? "";
    const known = this.#byTable.get(table);
    if (known === undefined) this.#byTable.set(table, new Map([[name, parts]]));
    else known.set(name, parts);
  }

  delete(name: string): void {
    const table = nameParts(name).at(-1) ?? "";
    const known = this.#byTable.get(table);
    known?.delete(name);
    if (known?.size === 0) this.#byTable.delete(table);
  }

  /** All that a name may mean; of `orders_*`, as BigQuery writes it, each table whose name begins so. */
  meant(name: string): readonly string[] {
    const parts = nameParts(name);
    const table = parts.at(-1) ?? "";
    if (!table.endsWith("*")) return this.#among(table, parts);
    const prefix = table.slice(0, -1);
    return [...this.#byTable.keys()]
      .filter((known) => known.startsWith(prefix))
      .flatMap((known) => this.#among(known, [...parts.slice(0, -1), known]));
  }

  #among(table: string, parts: readonly string[]): readonly string[] {
    const found: string[] = [];
    for (const [name, known] of this.#byTable.get(table) ?? []) if (mayBeOne(parts, known)) found.push(name);
    return found;
  }
}
