import { readFileSync, readdirSync, writeFileSync } from 'node:fs';

/** USER_HZ of Linux is 100 for every configuration of the kernel. */
const TICKS_PER_SECOND = 100;

/** User and system time of a process, from the 14th and 15th field of its `stat`. */
export function cpuSeconds(pid: number): number {
  const fields = statOf(pid);
  return (Number(fields[11]) + Number(fields[12])) / TICKS_PER_SECOND;
}

/** CPU seconds of a process and of all that it has started and that still run. */
export function cpuSecondsOfTree(pid: number): number {
  const children = readdirSync('/proc').filter(
    (name) => /^\d+$/.test(name) && parentOf(Number(name)) === pid,
  );
  return children.reduce(
    (seconds, child) => seconds + cpuSecondsOfTree(Number(child)),
    cpuSecondsIfRuns(pid),
  );
}

/** 0 of one that has ended meanwhile. */
function cpuSecondsIfRuns(pid: number): number {
  try {
    return cpuSeconds(pid);
  } catch {
    return 0;
  }
}

/** `undefined` for one that has ended meanwhile. */
function parentOf(pid: number): number | undefined {
  try {
    return Number(statOf(pid)[1]);
  } catch {
    return undefined;
  }
}

/** From the third field on; the second is a name, which may have spaces. */
function statOf(pid: number): string[] {
  const stat = readFileSync(`/proc/${pid}/stat`, 'utf8');
  return stat.slice(stat.lastIndexOf(')') + 2).split(' ');
}

/** MiB. */
export interface Memory {
  readonly resident: number;
  /** The process's own part of it; the rest is of files, which processes of one machine share. */
  readonly own: number;
  /** The most that was resident since {@link forgetPeak}. */
  readonly peak: number;
}

export function memoryOf(pid: number): Memory {
  const status = readFileSync(`/proc/${pid}/status`, 'utf8');
  const mib = (field: string): number => Number(new RegExp(`${field}:\\s+(\\d+)`).exec(status)?.[1]) / 1024;
  return { resident: mib('VmRSS'), own: mib('RssAnon'), peak: mib('VmHWM') };
}

export function forgetPeak(pid: number): void {
  writeFileSync(`/proc/${pid}/clear_refs`, '5');
}
