import { readFileSync, readdirSync } from 'node:fs';

/** The fields from `state` on; none if the process is gone. */
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

/** All threads, to 10 ms. */
export const processCpuUs = (pid: number): number => ticksUs(statFields(pid).slice(11, 13));

/** Exact to the nanosecond if the kernel reports it. */
function singleThreadCpuUs(pid: number): number {
  try {
    return Number(readFileSync(`/proc/${pid}/schedstat`, 'utf8').split(' ')[0]) / 1_000;
  } catch {
    return processCpuUs(pid);
  }
}

/** The postmaster and its children, ended ones too. `except`: the bench's own connections, open all the time. */
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
