// `npm run licences [-- LOCKFILE]`: what is shipped with the product, and under which licences; fails for one that is not allowed.
import { readFileSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { ROOT } from './lib/setup.mjs';

/** Licences that a product under Apache-2.0 can be shipped with, and that ask for no more than their text. */
const ALLOWED = new Set([
  '0BSD',
  'Apache-2.0',
  'BSD-2-Clause',
  'BSD-3-Clause',
  'CC0-1.0',
  'ISC',
  'MIT',
  'MIT-0',
]);
/** Packages whose package.json names no licence: what their LICENSE file is. */
const READ_IN_THEIR_FILES = { 'busboy@1.6.0': 'MIT', 'streamsearch@1.1.0': 'MIT' };

const lockfile = resolve(process.argv[2] ?? join(ROOT, 'package-lock.json'));
const { packages } = JSON.parse(readFileSync(lockfile, 'utf8'));
const shipped = Object.entries(packages)
  .filter(([path, { dev, link }]) => path.includes('node_modules/') && !link && !dev)
  .map(([path, { license, version }]) => {
    const name = `${path.slice(path.lastIndexOf('node_modules/') + 'node_modules/'.length)}@${version}`;
    return { name, licence: license ?? READ_IN_THEIR_FILES[name] ?? 'none named' };
  });

const byLicence = Map.groupBy(shipped, ({ licence }) => licence);
for (const [licence, items] of [...byLicence].sort(([one], [other]) => one.localeCompare(other))) {
  const names = [...new Set(items.map(({ name }) => name))].sort();
  console.log(`${licence}${ALLOWED.has(licence) ? '' : ' (NOT ALLOWED)'}: ${names.join(', ')}`);
}
const refused = shipped.filter(({ licence }) => !ALLOWED.has(licence));
console.log(`${shipped.length} packages, ${refused.length} under a licence that is not allowed`);
process.exitCode = refused.length > 0 ? 1 : 0;
