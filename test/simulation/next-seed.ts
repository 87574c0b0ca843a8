import { mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { dirname } from 'node:path';

/** The seed at which the last nightly run stopped; the first one if none has, or if the file says nothing of the kind. */
export function readNextSeed(file: string): number {
  try {
    const seed = Number(readFileSync(file, 'utf8'));
    return Number.isSafeInteger(seed) && seed > 0 ? seed : 1;
  } catch {
    return 1;
  }
}

/** Notes at which seed the next nightly run has to go on. */
export function writeNextSeed(file: string, seed: number): void {
  mkdirSync(dirname(file), { recursive: true });
  writeFileSync(file, `${seed}\n`);
}
