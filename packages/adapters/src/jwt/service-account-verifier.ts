import { CodedError, checkOptions } from "@seneschal/kernel";
import { type JWTVerifyGetKey, jwtVerify } from "jose";
import { invalidToken, TOKEN_ALGORITHMS, tokenRefusal } from "./token-verifier.ts";

/** The account that an orchestrator's token stands for. */
export interface ServiceAccount {
  readonly namespace: string;
  readonly name: string;
  /** Milliseconds. */
  readonly issuedAt: number;
}

export interface ServiceAccountVerifier {
  /** Throws `invalid_token`, `token_expired` or `invalid_issuer`. */
  verify(token: string): Promise<ServiceAccount>;
}

const SUBJECT = /^system:serviceaccount:([a-z0-9-]{1,63}):([a-z0-9.-]{1,253})$/;

/**
 * Verifies service-account tokens as Kubernetes projects them into pods: subject `system:serviceaccount:<namespace>:<name>`,
 * an audience that names us, an expiry and an issue time.
 */
export function serviceAccountVerifier(options: {
  readonly keys: JWTVerifyGetKey;
  readonly issuer: string;
  readonly audience: string;
  readonly clockSkewMs: number;
  readonly now: () => number;
}): ServiceAccountVerifier {
  checkOptions("options", options, {
    keys: "function",
    issuer: "string",
    audience: "string",
    clockSkewMs: "number",
    now: "function",
  });
  const { keys, issuer, audience, clockSkewMs, now } = options;
  return {
    async verify(token) {
      try {
        const { payload } = await jwtVerify(token, keys, {
          issuer,
          audience,
          algorithms: [...TOKEN_ALGORITHMS],
          clockTolerance: clockSkewMs / 1000,
          currentDate: new Date(now()),
          requiredClaims: ["sub", "iss", "aud", "exp", "iat"],
        });
        const [, namespace, name] = SUBJECT.exec(payload.sub ?? "") ?? [];
        if (namespace === undefined || name === undefined) throw invalidToken("claim sub");
        return { namespace, name, issuedAt: (payload.iat ?? 0) * 1000 };
      } catch (error) {
        throw error instanceof CodedError ? error : tokenRefusal(error);
      }
    },
  };
}
