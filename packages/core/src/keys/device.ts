import { checkArgument } from "@seneschal/kernel";
import { invalidField } from "./codes.ts";
import { isPast, type Timestamp, timestamp } from "./time.ts";
import { nextStatus, type Step, type TransitionTable, to, wrongState } from "./transition.ts";

export const deviceStatuses = ["pending", "active", "revoked"] as const;
export type DeviceStatus = (typeof deviceStatuses)[number];

/** A machine that acts with its own certificate. */
export interface Device {
  readonly id: string;
  readonly org_id: string;
  readonly device_name: string;
  readonly device_type: string;
  readonly cert_serial: string;
  readonly cert_expiry: Timestamp;
  readonly status: DeviceStatus;
  readonly enrolled_at: Timestamp;
  readonly last_seen_at: Timestamp | null;
  readonly revoked_at: Timestamp | null;
  readonly metadata: Readonly<Record<string, string>>;
  readonly created_at: Timestamp;
  readonly updated_at: Timestamp;
}

export type DeviceEffect = { readonly kind: "revoke_certificate"; readonly serial: string };

export const deviceTable: TransitionTable<DeviceStatus, "activate" | "revoke"> = {
  pending: { activate: to("active"), revoke: to("revoked") },
  active: { activate: wrongState, revoke: to("revoked") },
  revoked: { activate: wrongState, revoke: wrongState },
};

export interface DeviceNew {
  readonly id: string;
  readonly org: string;
  readonly device_name: string;
  readonly device_type: string;
  readonly cert_serial: string;
  readonly cert_expiry: Timestamp;
}

/**
 * An active device. The certificate's expiry must lie ahead; that its serial is unique and unrevoked is the caller's to check.
 *
 * @example
 * ```ts
 * import { enrollDevice } from "@seneschal/core/keys";
 * const input = { id: "d1", org: "acme", device_name: "laptop", device_type: "laptop", cert_serial: "01", cert_expiry: "2027-01-01T00:00:00.000Z" };
 * console.log(enrollDevice(input, 0).status); // active
 * ```
 */
export function enrollDevice(input: DeviceNew, now: number): Device {
  checkArgument("input", input, "object");
  checkArgument("now", now, "number");
  if (isPast(input.cert_expiry, now)) throw invalidField("cert_expiry", "must lie in the future");
  const at = timestamp(now);
  return {
    id: input.id,
    org_id: input.org,
    device_name: input.device_name,
    device_type: input.device_type,
    cert_serial: input.cert_serial,
    cert_expiry: input.cert_expiry,
    status: "active",
    enrolled_at: at,
    last_seen_at: null,
    revoked_at: null,
    metadata: {},
    created_at: at,
    updated_at: at,
  };
}

/**
 * True while the device may act: active, and its certificate has not run out.
 *
 * @example
 * ```ts
 * import { enrollDevice, isActiveDevice } from "@seneschal/core/keys";
 * const input = { id: "d1", org: "acme", device_name: "laptop", device_type: "laptop", cert_serial: "01", cert_expiry: "2027-01-01T00:00:00.000Z" };
 * const device = enrollDevice(input, 0);
 * console.log(isActiveDevice(device, Date.UTC(2026, 0, 1)), isActiveDevice(device, Date.UTC(2027, 0, 1))); // true false
 * ```
 */
export function isActiveDevice(device: Device, now: number): boolean {
  checkArgument("device", device, "object");
  checkArgument("now", now, "number");
  return device.status === "active" && !isPast(device.cert_expiry, now);
}

/**
 * Revocation is terminal and takes the certificate with it; a second one is `STATE_CONFLICT`.
 *
 * @example
 * ```ts
 * import { enrollDevice, revokeDevice } from "@seneschal/core/keys";
 * const input = { id: "d1", org: "acme", device_name: "laptop", device_type: "laptop", cert_serial: "01", cert_expiry: "2027-01-01T00:00:00.000Z" };
 * console.log(revokeDevice(enrollDevice(input, 0), 1).effects); // [ { kind: 'revoke_certificate', serial: '01' } ]
 * ```
 */
export function revokeDevice(device: Device, now: number): Step<Device, DeviceEffect> {
  checkArgument("device", device, "object");
  checkArgument("now", now, "number");
  const status = nextStatus("device", deviceTable, device.status, "revoke");
  const at = timestamp(now);
  return {
    state: { ...device, status, revoked_at: at, updated_at: at },
    effects: [{ kind: "revoke_certificate", serial: device.cert_serial }],
  };
}
