import { randomUUID } from 'node:crypto';
import { linkSync, readFileSync, renameSync, rmSync, writeFileSync } from 'node:fs';
import { codeOf } from './problem.js';

/** Which Node process looks after the server: starts it, supervises it and stops it at its own end. */
export interface Ownership {
  /** Takes the ownership if nobody alive has it; true if it is ours now. Cheap enough to ask often. */
  claim(): boolean;
  isMine(): boolean;
  release(): void;
}

interface Owner {
  pid: number;
  startedAt: string;
  id: string;
}

/** Ownership is a file that names a process; it counts only while that process lives. */
export function ownershipIn(file: string): Ownership {
  const me: Owner = { pid: process.pid, startedAt: startOf(process.pid) ?? '', id: randomUUID() };
  const isMine = () => readOwner(file)?.id === me.id;
  return {
    isMine,
    claim() {
      const owner = readOwner(file);
      if (owner?.id === me.id) return true;
      if (owner && isAlive(owner)) return false;
      if (owner) removeOwner(file, owner);
      const temporary = `${file}.${me.id}`;
      writeFileSync(temporary, JSON.stringify(me), { mode: 0o600 });
      putInPlace(temporary, file);
      return isMine();
    },
    release() {
      if (isMine()) rmSync(file, { force: true });
    },
  };
}

/** A link never replaces: of several claimants one wins. */
function putInPlace(temporary: string, file: string): void {
  try {
    linkSync(temporary, file);
  } catch (error) {
    if (codeOf(error) !== 'EEXIST') throw error;
  } finally {
    rmSync(temporary, { force: true });
  }
}

/** Moved aside before it is judged: what another claimant put there in the meantime goes back. */
function removeOwner(file: string, dead: Owner): void {
  const aside = `${file}.${randomUUID()}`;
  try {
    renameSync(file, aside);
  } catch (error) {
    if (codeOf(error) === 'ENOENT') return;
    throw error;
  }
  if (readOwner(aside)?.id === dead.id) rmSync(aside, { force: true });
  else putInPlace(aside, file);
}

/** Undefined if there is none; one that a crash cut short reads as nobody. */
function readOwner(file: string): Owner | undefined {
  let text: string;
  try {
    text = readFileSync(file, 'utf8');
  } catch (error) {
    if (codeOf(error) === 'ENOENT') return undefined;
    throw error;
  }
  try {
    return JSON.parse(text) as Owner;
  } catch {
    return { pid: 0, startedAt: '', id: '' };
  }
}

function isAlive(owner: Owner): boolean {
  if (owner.pid <= 0) return false;
  const startedAt = startOf(owner.pid);
  return startedAt !== undefined && (startedAt === '' || startedAt === owner.startedAt);
}

/**
 * Undefined if there is no such process. On Linux the time of its start, since numbers are soon used again,
 * above all in a restarted container; elsewhere an empty string.
 */
function startOf(pid: number): string | undefined {
  const found = processStat(pid);
  if (found) return found.state === 'Z' ? undefined : found.startedAt;
  return exists(pid) ? '' : undefined;
}

/** True also for a process that belongs to somebody else, and for one that has died but is not reaped. */
export function exists(pid: number): boolean {
  try {
    process.kill(pid, 0);
    return true;
  } catch (error) {
    return codeOf(error) === 'EPERM';
  }
}

/** What Linux says of a process; undefined elsewhere, or if it is gone. */
export function processStat(pid: number): { name: string; state: string; startedAt: string } | undefined {
  try {
    const text = readFileSync(`/proc/${pid}/stat`, 'utf8');
    const end = text.lastIndexOf(')'); // the name may hold spaces and brackets
    const fields = text.slice(end + 2).split(' ');
    return {
      name: text.slice(text.indexOf('(') + 1, end),
      state: fields[0] ?? '',
      startedAt: fields[19] ?? '',
    };
  } catch {
    return undefined;
  }
}
