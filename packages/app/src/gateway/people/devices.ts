import type { Handlers } from "@seneschal/contract";
import type { GatewayContract } from "@seneschal/contract/gateway";
import { type Device, enrollDevice, invalidField, isPast, refusal, revokeDevice } from "@seneschal/core/keys";
import { certificates, findOwn, type GatewayUnit, listed, type Reader } from "../ground/index.ts";
import { canonicalSerial, revokeCertificate } from "./certificates.ts";
import { devices } from "./collections.ts";
import { forgetIdentity } from "./identities.ts";
import type { PeopleServices } from "./services.ts";

/** Revokes a device of the organisation with its certificate; one that is revoked stays so. */
export async function endDevice(services: PeopleServices, unit: GatewayUnit, org: string, id: string): Promise<void> {
  const device = await unit.get(devices, id);
  if (device?.org_id !== org || device.status === "revoked") return;
  const { state, effects } = revokeDevice(device, unit.call.now);
  for (const { serial } of effects) await revokeCertificate(unit, serial);
  await forgetIdentity(services, unit, org, id);
  unit.put(devices, id, state);
  unit.record({ type: "device.revoke", metadata: { device_id: id, serial_number: device.cert_serial } });
}

type Routes = Pick<GatewayContract, "enrollDevice" | "listDevices" | "getDevice" | "revokeDevice">;

const view = (device: Device) => ({ ...device, metadata: { ...device.metadata } });

const findDevice = (read: Reader, id: string, org: string) => findOwn(read, devices, id, org, "device");

export const deviceHandlers: Handlers<Routes, PeopleServices> = {
  async enrollDevice(services, { principal, body, now, requestId }) {
    const serial = canonicalSerial(body.cert_serial);
    if (serial === undefined) throw invalidField("cert_serial", "expected hexadecimal digits");
    return services.transact({ principal, now, requestId }, async (unit) => {
      const record = await unit.get(certificates, serial);
      if (record?.org_id !== principal.org) throw invalidField("cert_serial", "is not a certificate of the organisation");
      if (record.status === "revoked" || isPast(record.expiration, now)) {
        throw refusal("CONFLICT", "the certificate is revoked or expired");
      }
      if (record.subject_type !== "server") throw refusal("CONFLICT", "the certificate stands for another identity");
      const device = enrollDevice(
        {
          id: services.newId(now),
          org: principal.org,
          device_name: body.device_name,
          device_type: body.device_type,
          cert_serial: serial,
          cert_expiry: body.cert_expiry,
        },
        now,
      );
      unit.insert(devices, device.id, device);
      // From now on the certificate stands for the device.
      unit.put(certificates, serial, {
        ...record,
        subject_type: "device",
        subject_id: device.id,
        updated_at: device.created_at,
      });
      unit.record({ type: "device.enroll", metadata: { device_id: device.id, serial_number: serial } });
      return view(device);
    });
  },

  listDevices: async ({ read }, { principal, query }) =>
    listed("devices", await read.page(devices, "by_org", [principal.org], query), view),

  async getDevice({ read }, { principal, params }) {
    return view(await findDevice(read, params.id, principal.org));
  },

  async revokeDevice(services, { principal, params, now, requestId }) {
    return services.transact({ principal, now, requestId }, async (unit) => {
      const device = await findDevice(unit, params.id, principal.org);
      const { state, effects } = revokeDevice(device, now);
      for (const { serial } of effects) await revokeCertificate(unit, serial);
      await forgetIdentity(services, unit, principal.org, device.id);
      unit.put(devices, device.id, state);
      unit.record({ type: "device.revoke", metadata: { device_id: device.id, serial_number: device.cert_serial } });
      return view(state);
    });
  },
};
