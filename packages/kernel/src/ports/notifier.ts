import type { JsonObject } from "../json.ts";

export interface Notification {
  /** Unique; a receiver that sees it twice acts once. */
  readonly id: string;
  readonly type: string;
  /** Milliseconds since the epoch. */
  readonly at: number;
  readonly payload: JsonObject;
}

/** Tells someone outside. Law: `notify` resolves when the receiver acknowledged, else throws `notify_failed`; retries are the caller's. */
export interface Notifier {
  notify(notification: Notification): Promise<void>;
}
