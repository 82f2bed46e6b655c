import type { Json } from "@seneschal/kernel";

/** A change to the data that the caller promises to make before using it; the decision carries it back as an obligation. */
export interface Transformation {
  readonly type: "mask" | "pseudonymize" | "drop" | "aggregate" | "row_filter" | "sample";
  /** Columns it touches; absent: all. */
  readonly columns?: readonly string[];
  /** Smallest group of an aggregate. */
  readonly k?: number;
  /** Only rows whose `column` is `equals`: a row filter. */
  readonly column?: string;
  readonly equals?: string;
  /** Most rows of a sample. */
  readonly rows?: number;
}

/** A data operation to be judged. */
export interface OperationRequest {
  readonly operation_type: string;
  readonly source_resources: readonly string[];
  readonly destination_resource?: string;
  readonly user_context: { readonly user_id: string; readonly role: string; readonly department: string };
  readonly transformations?: readonly Transformation[];
  readonly purpose?: string;
  /** A time-limited approval that the caller has for this operation. */
  readonly approval_id?: string;
}

/** Somebody's leave to do one operation until a time. */
export interface Approval {
  readonly id: string;
  /** Milliseconds. */
  readonly expiresAt: number;
  readonly approvedBy: string;
  /** What was approved: for this person, this operation, these sources, this destination, with these transformations. */
  readonly covers: OperationRequest;
}

/** A duty that comes with an allowed operation (AuthZEN style). Who does not understand one must not go on. */
export interface Obligation {
  readonly type: string;
  readonly id: string;
  readonly properties: Readonly<Record<string, Json>>;
}

/** A resource as evaluation sees it: its effective classification, by column where known. */
export interface EvaluatedResource {
  readonly tier: string;
  readonly tags: readonly string[];
  readonly columns: Readonly<Record<string, { readonly tier: string; readonly tags: readonly string[] }>>;
  /** Highest tier that it takes as a destination; absent: it is none. */
  readonly accepts?: string;
}

/** What the caller may know of. A resource that is not visible is `undefined`, as one that does not exist. */
export interface EvaluationCatalogue {
  resource(id: string): EvaluatedResource | undefined;
  /** Destinations that may be proposed. */
  destinations(): readonly { readonly id: string; readonly accepts: string }[];
  /** Purposes that may be proposed. */
  purposes(): readonly string[];
  /** Approvals that were given and not taken back, whether over or not. */
  approvals(): readonly Approval[];
}

/** The answer to one request, without alternatives. */
export interface Verdict {
  readonly allowed: boolean;
  readonly tier: string;
  readonly tags: readonly string[];
  readonly policyId: string;
  readonly policyName: string;
  readonly reasons: readonly string[];
  readonly obligations: readonly Obligation[];
}

/** Another way that would be allowed, as a sentence and as a request that can be sent. */
export interface Alternative {
  readonly description: string;
  readonly request: OperationRequest;
  readonly obligations: readonly Obligation[];
}
