/** The phases in their order; `request` ends when the request is written. */
export type Phase = 'dns' | 'connect' | 'tls' | 'request' | 'first byte';

/**
 * The duration of each phase in whole milliseconds, rounded down, so that they never add up to more than the attempt
 * took. Null if the phase did not happen (a reused connection, an address literal, plain http) or did not end.
 */
export interface PhaseTimes {
  dnsMs: number | null;
  connectMs: number | null;
  tlsMs: number | null;
  /** The time from the written request to the head of the response. */
  firstByteMs: number | null;
}

const fields = { dns: 'dnsMs', connect: 'connectMs', tls: 'tlsMs', 'first byte': 'firstByteMs' } as const;

/** How far an exchange is. Each phase begins where the one before ended, or at `begin`. */
export interface Progress {
  times: PhaseTimes;
  /** The receiver's IP address, as soon as one is chosen. */
  remoteAddress: string | null;
  begin(): void;
  ended(phase: Phase): void;
}

export function createProgress(onPhase: ((phase: Phase) => void) | undefined): Progress {
  let sinceMs = performance.now();
  const progress: Progress = {
    times: { dnsMs: null, connectMs: null, tlsMs: null, firstByteMs: null },
    remoteAddress: null,
    begin: () => void (sinceMs = performance.now()),
    ended: (phase) => {
      const nowMs = performance.now();
      if (phase !== 'request') progress.times[fields[phase]] = Math.floor(nowMs - sinceMs);
      sinceMs = nowMs;
      onPhase?.(phase);
    },
  };
  return progress;
}
