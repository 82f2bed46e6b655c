import { isActiveDevice } from "@seneschal/core/keys";
import type { Reader } from "../../ground/index.ts";
import { admins } from "../admins/collections.ts";
import { devices } from "../devices/collections.ts";
import { serviceIdentities } from "../service-identities/collections.ts";
import { users } from "../users/collections.ts";

/** An identity that has a record here. */
interface KnownIdentity {
  readonly id: string;
  readonly org: string;
  readonly roles: readonly string[];
  /** It was ended for good: its record is a mark that refuses it, and nothing is given to it any more. */
  readonly removed?: boolean;
  /** It may act at that time: enrolled, not disabled, not revoked, not run out. */
  isActive(now: number): boolean;
}

/** How identities of one kind are found by id. */
export interface IdentityKind {
  find(read: Reader, id: string): Promise<KnownIdentity | undefined>;
}

/** Every kind of identity of an organisation that certificates and tokens can stand for. A new kind adds its line. */
export const identityKinds: Readonly<Record<string, IdentityKind | undefined>> = {
  admin: {
    async find(read, id) {
      const admin = await read.get(admins, id);
      if (admin === undefined) return undefined;
      return { id, org: admin.org_id, roles: [admin.role], isActive: () => admin.enrollment_status === "active" };
    },
  },
  device: {
    async find(read, id) {
      const device = await read.get(devices, id);
      if (device === undefined) return undefined;
      return {
        id,
        org: device.org_id,
        roles: [],
        removed: device.status === "revoked",
        isActive: (now) => isActiveDevice(device, now),
      };
    },
  },
  service: {
    async find(read, id) {
      const service = await read.get(serviceIdentities, id);
      if (service === undefined) return undefined;
      return { id, org: service.org_id, roles: [], isActive: () => service.active };
    },
  },
  user: {
    async find(read, id) {
      const user = await read.get(users, id);
      if (user === undefined) return undefined;
      return { id, org: user.org_id, roles: [], removed: !user.active, isActive: () => user.active };
    },
  },
};
