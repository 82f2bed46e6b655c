import { checkArgument } from "@seneschal/kernel";
import type { LineageGraph } from "./graph.ts";

/** What is looked for in a catalogue; whatever is given must hold. */
export interface CatalogueSearch {
  /** Words, each of which is in the resource's id or the name of one of its columns, in whatever case. */
  readonly text?: string;
  /** One of these tiers is the resource's effective one. */
  readonly tiers?: readonly string[];
  /** All of these are among the tags of the resource or of its columns. */
  readonly tags?: readonly string[];
  /** One of the owners, whole. */
  readonly owner?: string;
}

/**
 * The ids of the resources that a search finds, sorted.
 *
 * @example
 * ```ts
 * import { LineageGraph, searchCatalogue } from "@seneschal/governance";
 * const graph = new LineageGraph();
 * graph.declare({ id: "crm.customers", columns: { email: {} }, owners: ["ada"] }, 0);
 * console.log(searchCatalogue(graph, { text: "CRM mail", owner: "ada" })); // [ 'crm.customers' ]
 * ```
 */
export function searchCatalogue(graph: LineageGraph, search: CatalogueSearch): readonly string[] {
  checkArgument("graph", graph, "object");
  checkArgument("search", search, "object");
  const words = (search.text ?? "")
    .toLowerCase()
    .split(/\s+/)
    .filter((word) => word !== "");
  const found: string[] = [];
  for (const id of graph.ids()) {
    const info = graph.info(id);
    const effective = graph.effective(id);
    if (info === undefined || effective === undefined) continue;
    if (search.tiers !== undefined && !search.tiers.includes(effective.tier)) continue;
    if (search.owner !== undefined && !info.owners.includes(search.owner)) continue;
    const names = Object.keys(info.columns);
    if (search.tags !== undefined) {
      const tags = new Set([...effective.tags, ...names.flatMap((name) => graph.effective(id, name)?.tags ?? [])]);
      if (!search.tags.every((tag) => tags.has(tag))) continue;
    }
    const texts = [id, ...names].map((text) => text.toLowerCase());
    if (words.every((word) => texts.some((text) => text.includes(word)))) found.push(id);
  }
  return found.sort();
}
