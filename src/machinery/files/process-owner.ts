import { existsSync, readFileSync } from 'node:fs';
import { dirname } from 'node:path';
import type { Place, ProcessOwner } from './decide-trust.js';

/** Undefined on systems without file owners, where nothing is checked. */
export function processOwner(): ProcessOwner | undefined {
  const uid = process.geteuid?.();
  if (uid === undefined) return undefined;
  return { uid, groups: new Set([...(process.getgroups?.() ?? []), process.getegid?.() ?? uid]) };
}

/** @param path without symbolic links */
export function placeOf(path: string): Place {
  if (!isContainer(process.env)) return 'machine';
  const mounts = mountPointsIn(readMounts());
  if (mounts.has(path)) return 'volume';
  for (let at = dirname(path); at !== dirname(at); at = dirname(at)) if (mounts.has(at)) return 'in-volume';
  return 'machine';
}

/** Parses Linux' `/proc/self/mountinfo`: the fifth field is the mount point, with separators escaped in octal. */
export function mountPointsIn(mountInfo: string): ReadonlySet<string> {
  const places = mountInfo.split('\n').flatMap((line) => line.split(' ')[4] ?? []);
  const plain = (place: string): string =>
    place.replaceAll(/\\([0-7]{3})/g, (_, octal: string) => String.fromCodePoint(Number.parseInt(octal, 8)));
  // Everything in a container is below its root.
  return new Set(places.map(plain).filter((place) => place !== '/'));
}

/** Markers that the common engines leave in their containers. */
function isContainer(env: NodeJS.ProcessEnv): boolean {
  const isMarked = ['/.dockerenv', '/run/.containerenv'].some((file) => existsSync(file));
  return isMarked || env['KUBERNETES_SERVICE_HOST'] !== undefined;
}

function readMounts(): string {
  try {
    return readFileSync('/proc/self/mountinfo', 'utf8');
  } catch {
    return '';
  }
}
