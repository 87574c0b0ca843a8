import { readFileSync, writeFileSync } from 'node:fs';

/** Of Linux, whatever the kernel was built with. */
const TICKS_PER_SECOND = 100;

/** User and system time of a process, from the 14th and 15th field of its `stat`. */
export function cpuSeconds(pid: number): number {
  const stat = readFileSync(`/proc/${pid}/stat`, 'utf8');
  const fields = stat.slice(stat.lastIndexOf(')') + 2).split(' ');
  return (Number(fields[11]) + Number(fields[12])) / TICKS_PER_SECOND;
}

/** MiB. */
export interface Memory {
  readonly resident: number;
  /** Of it what is the process's own; the rest is of files, which processes of one machine share. */
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
