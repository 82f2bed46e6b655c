import type { Collections, DocumentStore, IndexSpec, StoreCapabilities } from "../ports/document-store.ts";

/** A schema as stores are opened with. */
export interface SuiteSchema {
  readonly collections: Collections;
  readonly auditIndexes: Readonly<Record<string, IndexSpec>>;
  readonly auditTime?: string;
}

/** One empty place to keep data in. */
export interface StorePlace {
  /** Opens the store on this place. Called again after a close where durable; while open where `multiProcess`. */
  open(schema: SuiteSchema): Promise<DocumentStore>;
  destroy(): Promise<void>;
}

/** The adapter under test. `seed` replays the model test; `rounds` (default 12) deepens it. */
export interface StoreUnderTest {
  readonly capabilities: StoreCapabilities;
  readonly place: () => Promise<StorePlace>;
  readonly seed?: number;
  readonly rounds?: number;
}
