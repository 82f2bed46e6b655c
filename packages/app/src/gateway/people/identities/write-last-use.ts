import { timestamp } from "@seneschal/core/keys";
import { systemCall } from "../../ground/index.ts";
import { admins } from "../admins/collections.ts";
import { devices } from "../devices/collections.ts";
import { serviceIdentities } from "../service-identities/collections.ts";
import type { PeopleServices } from "../services.ts";
import { users } from "../users/collections.ts";

/** Writes what was noted into the records of admins, users, services and devices; a later time of another process stays. */
export async function writeLastUse(services: PeopleServices, now: number): Promise<void> {
  for (const { type, id, at } of services.lastUse.drain()) {
    const when = timestamp(at);
    await services.transact(systemCall("system:last-use", "", now), async (unit) => {
      const later = (known: string | null): boolean => known === null || known < when;
      switch (type) {
        case "admin": {
          const admin = await unit.get(admins, id);
          if (admin !== undefined && later(admin.last_login_at)) unit.put(admins, id, { ...admin, last_login_at: when });
          return;
        }
        case "user": {
          const user = await unit.get(users, id);
          if (user !== undefined && later(user.last_login_at)) unit.put(users, id, { ...user, last_login_at: when });
          return;
        }
        case "service": {
          const service = await unit.get(serviceIdentities, id);
          if (service !== undefined && later(service.last_auth_at)) {
            unit.put(serviceIdentities, id, { ...service, last_auth_at: when });
          }
          return;
        }
        case "device": {
          const device = await unit.get(devices, id);
          if (device !== undefined && later(device.last_seen_at)) unit.put(devices, id, { ...device, last_seen_at: when });
          return;
        }
        default:
      }
    });
  }
}
