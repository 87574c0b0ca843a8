// Packages that one script reads a file of: fetched through npm, checked, and unpacked under node_modules/.cache.
import { createHash } from 'node:crypto';
import { existsSync, mkdirSync, readFileSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { say, tryOutput } from './run.mjs';
import { ROOT } from './setup.mjs';

/**
 * Unpacks a package of the npm registry. Answers its folder.
 * @param name name and exact version: `@scope/name@1.2.3`
 * @param sha512 the registry's digest, in base64
 * @throws Error when it cannot be had, or is not what it was
 */
export function unpackNpmPackage({ name, sha512 }) {
  const folder = join(ROOT, 'node_modules', '.cache', name.replace(/^@/, '').replaceAll(/[/@]/g, '-'));
  const unpacked = join(folder, 'package');
  if (existsSync(unpacked)) return unpacked;
  say(`fetching ${name}`);
  mkdirSync(folder, { recursive: true });
  const file = tryOutput('npm', ['pack', '--silent', '--pack-destination', folder, name])?.trim();
  if (!file) throw new Error(`npm could not fetch ${name}`);
  const archive = join(folder, file);
  const digest = createHash('sha512').update(readFileSync(archive)).digest('base64');
  if (digest !== sha512) {
    rmSync(archive);
    throw new Error(`${name} has the digest ${digest}, expected ${sha512}`);
  }
  if (tryOutput('tar', ['-xzf', archive, '-C', folder]) === undefined)
    throw new Error(`tar could not unpack ${archive}`);
  rmSync(archive);
  return unpacked;
}
