import { nextTurn } from "@seneschal/adapters/system";
import {
  type Approval,
  type ApprovalRecord,
  type EvaluatedResource,
  type EvaluationCatalogue,
  givenApproval,
  type KnownResource,
  LineageGraph,
  LineageIngest,
  type LineageSnapshot,
  lineageSnapshot,
  mergedResource,
  type PropagationPolicy,
  policyOf,
  resourceId,
  type SqlParser,
  type SqlReading,
  Surroundings,
  scannedTier,
  type TableFacts,
  type TierPolicy,
  termOf,
  unclassifiedTier,
} from "@seneschal/governance";
import { isCoded, type JsonObject } from "@seneschal/kernel";
import type { Change, DocumentStore } from "@seneschal/kernel/ports";
import { everyDocument, newestChange } from "../platform/index.ts";
import { nameInId } from "./document-ids.ts";
import { lostRace } from "./fault.ts";
import type { ScannedDoc } from "./sources/types.ts";
import { versionsOf } from "./versions.ts";

/** A registered resource as it is stored. */
export interface ResourceDoc {
  readonly org: string;
  readonly resource_id: string;
  readonly tier: string | null;
  readonly tags: readonly string[];
  readonly columns: Readonly<
    Record<string, { readonly type?: string; readonly tier?: string; readonly tags?: readonly string[] }>
  >;
  readonly owners: readonly string[];
  readonly accepts_tier: string | null;
  readonly updated_at: string;
}

/** An OpenLineage event as it is stored. */
export interface LineageEventDoc {
  readonly arrived_at: string;
  readonly event: JsonObject;
  /** What its SQL says, read before it was stored; `null`: nothing. Release 0.1 did not write it: such SQL is read when the process starts. */
  readonly sql?: SqlReading | null;
}

/** What one organisation has registered of its data, and where it flows. */
export interface DataCatalogue extends EvaluationCatalogue {
  readonly graph: LineageGraph;
  /** What an event that is about to be taken in asks of its SQL, and whether its run is full. */
  readonly intake: Pick<LineageIngest, "question" | "checkRun" | "history">;
  readonly registered: ReadonlyMap<string, ResourceDoc>;
  /** What is known of a table, by a name that a query may use; absent when there are none. */
  readonly factsOf: ((table: string) => TableFacts) | undefined;
}

export interface CataloguesOptions {
  readonly store: DocumentStore;
  readonly tiers: TierPolicy;
  readonly sql?: SqlParser;
  readonly propagation: PropagationPolicy;
  readonly destinations: readonly { readonly prefix: string; readonly accepts_tier: string }[];
  readonly purposes: readonly string[];
}

const PAGE = 1000;
/** Catalogues of other moments that are made at a time. */
const REPLAYS = 2;

/**
 * The data catalogue of every organisation (resources, columns, approvals, lineage), in memory, built from the store and kept in step with it: also with what other processes
 * write. `at` waits until everything that was committed before is in.
 */
export class Catalogues {
  readonly #options: CataloguesOptions;
  readonly #catalogues = new Map<string, OrganizationCatalogue>();
  #seq = 0;
  #replaying = 0;
  #behind = true;
  #turn: Promise<void> = Promise.resolve();
  #unsubscribe: (() => void) | undefined;

  constructor(options: CataloguesOptions) {
    this.#options = options;
  }

  /** Reads everything, then listens for changes. */
  async open(): Promise<void> {
    const { store } = this.#options;
    this.#unsubscribe = store.subscribe((seq) => {
      // A commit of audit records alone changes no document.
      if (seq > this.#seq) this.#behind = true;
    });
    // Who begins has nothing that changes would bring up to date; where they are forgotten, those from here on count.
    this.#seq = (await this.#next(0)) === undefined ? await newestChange(store) : 0;
    await this.#readAll();
    await this.#catchUp();
  }

  async #readAll(): Promise<void> {
    const { store } = this.#options;
    for (const [coll, index] of [
      ["resources", "by_org"],
      ["scanned_assets", "by_source"],
      ["lineage_events", "by_arrival"],
      ["lineage_blocks", "by_org"],
      ["approvals", "by_org"],
    ] as const) {
      for await (const { id, doc } of everyDocument(store, coll, index)) this.#apply(coll, id, doc);
    }
  }

  /** Changes behind a number; `undefined` when some of them are forgotten. */
  async #next(seq: number): Promise<readonly Change[] | undefined> {
    try {
      return await this.#options.store.changes(seq, PAGE);
    } catch (error) {
      if (isCoded(error, "changes_compacted")) return undefined;
      throw error;
    }
  }

  close(): void {
    this.#unsubscribe?.();
  }

  async at(org: string): Promise<DataCatalogue> {
    // What another process wrote may not have been heard of yet, nor, where a server tells, what this one did.
    const { multiProcess, subscribe } = this.#options.store.capabilities;
    if (multiProcess || subscribe === "poll") this.#behind = true;
    if (this.#behind) await this.#catchUp();
    return this.#catalogue(org);
  }

  /** The organisation's catalogue as it was at two moments, the second not before the first. Throws `service_unavailable` while others ask for as much. */
  async between(org: string, from: number, to: number): Promise<readonly [LineageSnapshot, LineageSnapshot]> {
    if (this.#replaying >= REPLAYS) throw lostRace();
    this.#replaying++;
    try {
      const catalogue = new OrganizationCatalogue(this.#options);
      let then: LineageSnapshot | undefined;
      for await (const { at, coll, key, doc } of versionsOf(this.#options.store, org, to)) {
        if (at > from) then ??= lineageSnapshot(catalogue.graph);
        READERS[coll]?.(catalogue, key, doc);
        await nextTurn();
      }
      const later = lineageSnapshot(catalogue.graph);
      return [then ?? later, later];
    } finally {
      this.#replaying--;
    }
  }

  #catalogue(org: string): OrganizationCatalogue {
    let catalogue = this.#catalogues.get(org);
    if (catalogue === undefined) {
      catalogue = new OrganizationCatalogue(this.#options);
      this.#catalogues.set(org, catalogue);
    }
    return catalogue;
  }

  /** One reader at a time; a later caller waits for a pass that began after its own call. */
  #catchUp(): Promise<void> {
    const turn = this.#turn.then(async () => {
      if (!this.#behind) return;
      this.#behind = false;
      const { store } = this.#options;
      for (;;) {
        const changes = await this.#next(this.#seq);
        if (changes === undefined) {
          // What was forgotten is in the documents. The place moves when all are read: a failure on the way begins anew.
          const newest = await newestChange(store);
          this.#catalogues.clear();
          await this.#readAll();
          this.#seq = newest;
          continue;
        }
        const wanted = changes.filter((change) => change.coll in READERS);
        for (const change of wanted) {
          await this.#follow(change);
          // Each is as much work as a request.
          await nextTurn();
        }
        this.#seq = changes.at(-1)?.seq ?? this.#seq;
        // What was read since may be newer than what its neighbours were: at the end nothing had changed.
        if (changes.length === 0) return;
      }
    });
    this.#turn = turn.catch(() => {
      this.#behind = true;
    });
    return turn;
  }

  async #follow(change: Change): Promise<void> {
    const stored = await this.#options.store.get(change.coll, change.id);
    this.#apply(change.coll, change.id, stored?.doc);
  }

  #apply(coll: string, id: string, doc: JsonObject | undefined): void {
    const org = id.slice(0, id.indexOf("|"));
    READERS[coll]?.(this.#catalogue(org), id.slice(org.length + 1), doc);
  }
}

const READERS: Readonly<Record<string, (catalogue: OrganizationCatalogue, key: string, doc: JsonObject | undefined) => void>> = {
  resources: (catalogue, key, doc) => catalogue.register(key, doc as ResourceDoc | undefined),
  scanned_assets: (catalogue, _, doc) => {
    // It stays where the source does not have it any more: copies may.
    if (doc !== undefined) catalogue.scanned(doc as unknown as ScannedDoc);
  },
  lineage_events: (catalogue, _, doc) => {
    if (doc !== undefined) catalogue.ingest(doc as unknown as LineageEventDoc);
  },
  approvals: (catalogue, key, doc) => catalogue.approve(key, doc as ApprovalRecord | undefined),
  lineage_blocks: (catalogue, _, doc) => {
    if (doc !== undefined) catalogue.graph.setBlocked(doc["source"] as string, doc["target"] as string, doc["blocked"] === true);
  },
};

class OrganizationCatalogue implements DataCatalogue {
  readonly #approvals = new Map<string, Approval>();
  readonly graph: LineageGraph;
  readonly registered = new Map<string, ResourceDoc>();
  readonly intake: LineageIngest;
  readonly #options: CataloguesOptions;
  /** The columns that each resource's inferred tiers are from. */
  readonly #named = new Map<string, string>();

  constructor(options: CataloguesOptions) {
    this.#options = options;
    this.graph = new LineageGraph(options.tiers, options.propagation);
    this.intake = new LineageIngest(this.graph, options.sql);
  }

  get factsOf() {
    return this.graph.size.resources === 0 ? undefined : (table: string) => this.#facts(table);
  }

  register(key: string, doc: ResourceDoc | undefined): void {
    if (doc === undefined) {
      // What was too long for an id is known by its digest.
      const gone =
        [...this.registered.values()].find(({ org, resource_id }) => nameInId(org, resource_id) === key)?.resource_id ?? key;
      this.registered.delete(gone);
      this.#named.delete(this.graph.canonical(gone));
      this.graph.undeclare(gone, 0);
      return;
    }
    const id = doc.resource_id;
    this.registered.set(id, doc);
    const direct = doc.tier === null ? {} : { direct: { tier: doc.tier, tags: doc.tags } };
    this.#tell(doc, { owners: doc.owners, ...direct }, "declared");
  }

  scanned(doc: ScannedDoc): void {
    const direct = scannedTier(this.#options.tiers, doc);
    this.#tell(doc, direct === undefined ? {} : { direct }, "scan");
  }

  /** What one of them says anew of a resource replaces what it said. */
  #tell(
    { resource_id: id, columns: said, updated_at }: Pick<ResourceDoc, "resource_id" | "columns" | "updated_at">,
    rest: Pick<Parameters<LineageGraph["declare"]>[0], "direct" | "owners">,
    by: "declared" | "scan",
  ): void {
    const columns = Object.fromEntries(
      Object.entries(said).map(([name, { type, tier, tags = [] }]) => [
        name,
        { ...(type === undefined ? {} : { type }), ...(tier === undefined ? {} : { direct: { tier, tags } }) },
      ]),
    );
    const at = Date.parse(updated_at);
    this.graph.batch(() => {
      this.#named.delete(this.graph.canonical(id));
      this.graph.undeclare(id, at, by);
      this.graph.declare({ id, columns, ...rest }, at, by);
      this.#describe(this.graph.canonical(id));
    });
  }

  approve(id: string, doc: ApprovalRecord | undefined): void {
    const approval = givenApproval(doc);
    if (approval === undefined) this.#approvals.delete(id);
    else this.#approvals.set(id, approval);
  }

  ingest({ event, arrived_at, sql }: LineageEventDoc): void {
    const at = Date.parse(arrived_at);
    this.intake.add(event, at, sql);
    for (const id of datasetIds(event)) this.#describe(this.graph.canonical(id));
  }

  /** Columns that nobody classified are classified by their names. */
  #describe(id: string): void {
    const names = Object.keys(this.graph.info(id)?.columns ?? {}).sort();
    // Most events bring no new columns.
    const key = names.join("\0");
    if (this.#named.get(id) === key) return;
    this.#named.set(id, key);
    const around = new Surroundings(id, names);
    const inferred = names.flatMap((name) => {
      const term = termOf(name, around);
      return term === undefined ? [] : [[name, policyOf(this.#options.tiers, term.entity)] as const];
    });
    this.graph.infer(id, Object.fromEntries(inferred));
  }

  #facts(table: string): TableFacts {
    const known = this.graph.named(table).flatMap((id) => this.#resource(id) ?? []);
    const resource = mergedResource(this.#options.tiers, known);
    const columns = Object.keys(resource?.columns ?? {});
    return { ...(resource === undefined ? {} : { resource }), ...(columns.length === 0 ? {} : { columns }) };
  }

  #resource(id: string): (KnownResource & Pick<EvaluatedResource, "columns">) | undefined {
    const info = this.graph.info(id);
    const effective = this.graph.effective(id);
    if (info === undefined || effective === undefined) return undefined;
    const columns = Object.fromEntries(
      Object.keys(info.columns).map((name) => [name, this.graph.effective(id, name) ?? effective]),
    );
    const said = info.direct !== undefined || Object.values(info.columns).some(({ direct }) => direct !== undefined);
    const unclassified = !said && effective.tier === unclassifiedTier(this.#options.tiers) && effective.tags.length === 0;
    return { tier: effective.tier, tags: effective.tags, columns, ...(unclassified ? { unclassified } : {}) };
  }

  resource(id: string): EvaluatedResource | undefined {
    const found = this.graph.has(id) ? this.#resource(this.graph.canonical(id)) : undefined;
    const accepts =
      this.registered.get(id)?.accepts_tier ?? this.#options.destinations.find((d) => id.startsWith(d.prefix))?.accepts_tier;
    if (found === undefined) {
      return accepts === undefined || accepts === null
        ? undefined
        : { tier: unclassifiedTier(this.#options.tiers), tags: [], columns: {}, accepts };
    }
    const { tier, tags, columns } = found;
    return { tier, tags, columns, ...(accepts === undefined || accepts === null ? {} : { accepts }) };
  }

  purposes(): readonly string[] {
    return this.#options.purposes;
  }

  approvals(): readonly Approval[] {
    return [...this.#approvals.values()];
  }

  destinations(): readonly { readonly id: string; readonly accepts: string }[] {
    return [...this.registered.values()].flatMap((doc) =>
      doc.accepts_tier === null ? [] : [{ id: doc.resource_id, accepts: doc.accepts_tier }],
    );
  }
}

function datasetIds(event: unknown): string[] {
  const raw = event as { readonly inputs?: unknown; readonly outputs?: unknown; readonly dataset?: unknown } | null;
  return [raw?.inputs, raw?.outputs, raw?.dataset === undefined ? [] : [raw.dataset]]
    .flatMap((list) => (Array.isArray(list) ? list : []))
    .flatMap((d: { readonly namespace?: unknown; readonly name?: unknown } | null) =>
      typeof d?.name === "string" ? [resourceId(typeof d.namespace === "string" ? d.namespace : "default", d.name)] : [],
    );
}
