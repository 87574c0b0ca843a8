import { groupsOf, groupVersionsOf } from '../discovery/index.js';
import type { GroupVersion } from '../discovery/index.js';
import { apiVersionOf } from '@rollkeeper/machinery/kubernetes';
import { isDefinedByUsers } from '../kinds/index.js';
import type { KindDefinition, KindRegistry } from '../kinds/index.js';
import { pathsOfAnswered } from './answered-paths.js';
import { OTHER_PAGES, groupPage, versionPage } from './discovery-paths.js';
import { pathsOfKind } from './kind-paths.js';
import type { PathOperations } from './operations.js';

/** The content of one document below `/openapi/v3`. */
export interface ServedDocument {
  /** Below `/openapi/v3`: `apis/apps/v1`. */
  readonly path: string;
  /** As long as these are the same, so is the document. */
  readonly kinds: readonly KindDefinition[];
  paths(): PathOperations[];
}

/** All of them; those of kinds that users define have no pages of their groups, as there. */
export function servedDocuments(kinds: KindRegistry): ServedDocument[] {
  return [
    ...OTHER_PAGES.map((page) => ({ path: page.path.slice(1, -1), kinds: [], paths: () => [page] })),
    ...groupsOf(kinds)
      .filter(([found]) => found.group !== '' && isOfServer(found))
      .map(([{ group }]) => ({ path: `apis/${group}`, kinds: [], paths: () => [groupPage(group)] })),
    ...groupVersionsOf(kinds).map((found) => ({
      path: documentPath(found),
      kinds: found.kinds,
      paths: () => pathsOf(found),
    })),
  ];
}

/** The paths of everything that the server has of itself. */
export function pathsOfServer(kinds: KindRegistry): PathOperations[] {
  return servedDocuments(kinds)
    .filter(({ kinds: own }) => !own.some(isDefinedByUsers))
    .flatMap((document) => document.paths());
}

function pathsOf(found: GroupVersion): PathOperations[] {
  return [
    ...(isOfServer(found) ? [versionPage(found)] : []),
    ...found.answered.flatMap(pathsOfAnswered),
    ...found.kinds.flatMap(pathsOfKind),
  ];
}

function isOfServer({ kinds }: GroupVersion): boolean {
  return !kinds.some(isDefinedByUsers);
}

function documentPath({ group, version }: GroupVersion): string {
  return group === '' ? `api/${version}` : `apis/${apiVersionOf({ group, version })}`;
}
