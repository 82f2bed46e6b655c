import type { Assets } from "@seneschal/adapters/assets";
import type { Health } from "../../platform/index.ts";
import type { Credentials } from "../keys/credentials.ts";
import type { StorageNode } from "../node.ts";
import type { SmartSimulation } from "../watch/simulate-smart.ts";
import type { AdminAuth } from "./admin-auth.ts";

/** What the admin handlers work with. */
export interface AdminServices {
  readonly node: StorageNode;
  readonly health: () => Promise<Health>;
  readonly auth: AdminAuth;
  readonly credentials: Credentials;
  readonly assets: Assets;
  /** Cookies are marked Secure. */
  readonly tls: boolean;
  /** Present where `storage.test_knobs` is on. */
  readonly simulation: SmartSimulation | undefined;
}
