import { collection } from "../../../platform/collection.ts";

/** Which instance the data is of. */
export interface StoredInstance {
  readonly instance_id: string;
  readonly created_at: string;
}

export const instances = collection<StoredInstance>("instances");
