// The modules of a built release: CHAOS_DIST is its `dist`. Up to 0.1 that holds all of them; later each package has
// its own.
import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';

/** @param paths of a package's module, `client/api-client/http-transport.js`: where it is, then where earlier releases had it */
export function load(...paths) {
  const places = paths.flatMap(placesOf);
  const found = places.find((place) => existsSync(place)) ?? places[0];
  return import(pathToFileURL(found).href);
}

function placesOf(path) {
  const { CHAOS_DIST } = process.env;
  const [name, ...rest] = path.split('/');
  return [join(CHAOS_DIST, '..', 'src', name, 'dist', ...rest), join(CHAOS_DIST, 'kit', ...rest)];
}
