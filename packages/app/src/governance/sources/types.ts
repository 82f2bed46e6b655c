import type { ScannedAsset } from "@seneschal/governance";
import type { HealthCheck, Jobs } from "../../platform/index.ts";
import type { SourceSettings } from "./settings.ts";

/** A configured source, of an organisation. */
export interface ScannedSource {
  readonly name: string;
  readonly org: string;
  readonly settings: SourceSettings;
}

/** The scans of all sources: when they begin, who does them, and what they came to. */
export interface Scans {
  readonly sources: readonly ScannedSource[];
  /** A scan to be put into a commit. */
  draft(source: ScannedSource, by: string): ReturnType<Jobs["draft"]>;
  /** There is something new to do, or to end. Processes that are not told look by themselves. */
  wake(): void;
  readonly check: HealthCheck;
  start(): void;
  stop(): Promise<void>;
}

/** What scans know of one resource, as it is stored. */
export interface ScannedDoc extends ScannedAsset {
  readonly org: string;
  readonly source: string;
  readonly resource_id: string;
  readonly name: string;
  readonly updated_at: string;
}
