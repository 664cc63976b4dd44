import { readFileSync, readdirSync } from 'node:fs';

/** Fields of /proc/PID/stat from `state` on; none where the process is gone. */
function statFields(pid: number): string[] {
  try {
    const stat = readFileSync(`/proc/${pid}/stat`, 'utf8');
    return stat.slice(stat.lastIndexOf(')') + 2).split(' ');
  } catch {
    return [];
  }
}

const usPerTick = 10_000; // USER_HZ is 100 on Linux
const ticksUs = (fields: string[]) => fields.reduce((sum, field) => sum + Number(field), 0) * usPerTick;

/** CPU time a process has used so far with all its threads, in microseconds, to 10 ms. */
export const processCpuUs = (pid: number): number => ticksUs(statFields(pid).slice(11, 13));

/** The same of a process of one thread, to the nanosecond where the kernel tells. */
function singleThreadCpuUs(pid: number): number {
  try {
    return Number(readFileSync(`/proc/${pid}/schedstat`, 'utf8').split(' ')[0]) / 1_000;
  } catch {
    return processCpuUs(pid);
  }
}

/**
 * A PostgreSQL server's CPU so far: the postmaster, its children, and those of them that have ended. `except` names
 * the connections of the bench itself, which have to stay open while it is measured.
 */
export function postgresCpuUs(postmasterPid: number, except: readonly number[]): number {
  const children = childrenOf(postmasterPid).filter((pid) => !except.includes(pid));
  const endedUs = ticksUs(statFields(postmasterPid).slice(13, 15));
  return [postmasterPid, ...children].reduce((sum, pid) => sum + singleThreadCpuUs(pid), endedUs);
}

function childrenOf(pid: number): number[] {
  return readdirSync('/proc')
    .filter((name) => /^\d+$/.test(name))
    .map(Number)
    .filter((candidate) => parentOf(candidate) === pid);
}

export const parentOf = (pid: number): number => Number(statFields(pid)[1]);
