import { existsSync, readFileSync } from 'node:fs';
import { dirname } from 'node:path';
import type { Place, ProcessOwner } from './decide-trust.js';

/** Undefined on systems without owners of files, where nothing is judged. */
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

/** By the text of Linux' `/proc/self/mountinfo`, whose fifth field is the place, with what would end it written in octal. */
export function mountPointsIn(mountInfo: string): ReadonlySet<string> {
  const places = mountInfo.split('\n').flatMap((line) => line.split(' ')[4] ?? []);
  const plain = (place: string): string =>
    place.replaceAll(/\\([0-7]{3})/g, (_, octal: string) => String.fromCodePoint(Number.parseInt(octal, 8)));
  // All of a container is below its root.
  return new Set(places.map(plain).filter((place) => place !== '/'));
}

/** As the common engines mark their containers. */
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
