import { operationName } from './operation-id.js';
import { BUILT_IN_TYPES, pathOf, rootOf } from './operations.js';
import type { Answer, PathOperations } from './operations.js';

const META = 'io.k8s.apimachinery.pkg.apis.meta.v1';
const UNAUTHORIZED: Answer = { description: 'Unauthorized' };
const JSON_ONLY: readonly string[] = ['application/json'];

interface Page {
  readonly path: string;
  /** The text after `get` in the operation's name. */
  readonly name: string;
  readonly description: string;
  /** @default a text */
  readonly schema?: string;
  readonly consumes?: readonly string[];
  readonly produces?: readonly string[];
}

function page({ consumes, description, name, path, produces, schema }: Page): PathOperations {
  return pathOf(path, [
    {
      ...operationName('get', path, name),
      method: 'get',
      description,
      parameters: [],
      ...(consumes && { consumes }),
      produces: produces ?? BUILT_IN_TYPES,
      answers: { '200': { description: 'OK', schema: schema ?? null }, '401': UNAUTHORIZED },
    },
  ]);
}

/** `/apis/apps/v1/` */
export function versionPage(of: { readonly group: string; readonly version: string }): PathOperations {
  return page({
    ...{ path: `${rootOf(of)}/`, name: 'APIResources', description: 'get available resources' },
    ...{ schema: `${META}.APIResourceList`, consumes: BUILT_IN_TYPES },
  });
}

/** `/apis/apps/` */
export function groupPage(group: string): PathOperations {
  return page({
    ...{ path: `/apis/${group}/`, name: 'APIGroup', description: 'get information of a group' },
    ...{ schema: `${META}.APIGroup`, consumes: BUILT_IN_TYPES },
  });
}

/** Paths that are about no group. */
export const OTHER_PAGES: readonly PathOperations[] = [
  page({
    ...{ path: '/.well-known/openid-configuration/', name: 'ServiceAccountIssuerOpenIDConfiguration' },
    description: "get service account issuer OpenID configuration, also known as the 'OIDC discovery doc'",
    produces: JSON_ONLY,
  }),
  page({
    ...{ path: '/api/', name: 'APIVersions', description: 'get available API versions' },
    ...{ schema: `${META}.APIVersions`, consumes: BUILT_IN_TYPES },
  }),
  page({
    ...{ path: '/apis/', name: 'APIVersions', description: 'get available API versions' },
    ...{ schema: `${META}.APIGroupList`, consumes: BUILT_IN_TYPES },
  }),
  page({
    ...{ path: '/openid/v1/jwks/', name: 'ServiceAccountIssuerOpenIDKeyset' },
    description:
      'get service account issuer OpenID JSON Web Key Set (contains public token verification keys)',
    produces: ['application/jwk-set+json'],
  }),
  page({
    ...{ path: '/version/', name: 'CodeVersion', description: 'get the version information for this server' },
    ...{ schema: 'io.k8s.apimachinery.pkg.version.Info', consumes: JSON_ONLY, produces: JSON_ONLY },
  }),
];
