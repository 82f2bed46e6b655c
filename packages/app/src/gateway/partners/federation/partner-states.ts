/** What a check of a partner came to. */
export type PartnerStatus = "healthy" | "unhealthy" | "not_ready";

/** How partners were found when they were last called, by federation. In memory: after a start nothing is known. */
export interface PartnerStates {
  note(federation: string, status: PartnerStatus): void;
  of(federation: string): PartnerStatus | "unchecked";
  /** Forgets all others: federations end. */
  keep(federations: readonly string[]): void;
}

export function partnerStates(): PartnerStates {
  const states = new Map<string, PartnerStatus>();
  return {
    note: (federation, status) => void states.set(federation, status),
    of: (federation) => states.get(federation) ?? "unchecked",
    keep(federations) {
      const kept = new Set(federations);
      for (const id of states.keys()) if (!kept.has(id)) states.delete(id);
    },
  };
}
