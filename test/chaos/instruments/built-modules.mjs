// Where the modules of a built release are: CHAOS_DIST is its `dist`. Up to 0.1 that holds all of them; later each package has its own.
import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';

/** @param path of a package's module: `client/api-client/http-transport.js` */
export function load(path) {
  const { CHAOS_DIST } = process.env;
  const [name, ...rest] = path.split('/');
  const own = join(CHAOS_DIST, '..', 'src', name, 'dist', ...rest);
  return import(pathToFileURL(existsSync(own) ? own : join(CHAOS_DIST, 'kit', ...rest)).href);
}
