import { describe, expect, it } from 'vitest';
import { parseTarget } from './target.js';

const APPS = 'apps/v1';
const CUSTOM = 'rollkeeper.dev/v1';

describe('the words that name a Deployment', () => {
  it.each<{ words: string[]; flags?: object; namespace: string; name: string; api?: string }>([
    { words: ['web'], namespace: 'default', name: 'web' },
    { words: ['shop/web'], namespace: 'shop', name: 'web' },
    { words: ['deployment/web'], namespace: 'default', name: 'web' },
    { words: ['deploy/web'], namespace: 'default', name: 'web' },
    { words: ['deployments/web'], flags: { namespace: 'shop' }, namespace: 'shop', name: 'web' },
    { words: ['deployment', 'web'], namespace: 'default', name: 'web' },
    { words: ['Deployment', 'shop/web'], namespace: 'shop', name: 'web' },
    { words: ['deployment/shop/web'], namespace: 'shop', name: 'web' },
    { words: ['deployment', 'deployment'], namespace: 'default', name: 'deployment' },
    { words: ['web'], flags: { namespace: 'deploy' }, namespace: 'deploy', name: 'web' },
    { words: ['deployment.apps/web'], namespace: 'default', name: 'web', api: APPS },
    { words: ['deployments.v1.apps/web'], namespace: 'default', name: 'web', api: APPS },
    { words: ['rkd/web'], namespace: 'default', name: 'web', api: CUSTOM },
    { words: ['deployments.rollkeeper.dev', 'web'], namespace: 'default', name: 'web', api: CUSTOM },
    { words: ['web'], flags: { api: CUSTOM }, namespace: 'default', name: 'web', api: CUSTOM },
  ])('$words $flags', ({ api, flags = {}, name, namespace, words }) => {
    expect(parseTarget(words, flags)).toEqual({ ref: { namespace, name }, api });
  });

  it.each<{ words: string[]; flags?: object; says: string }>([
    { words: ['pod', 'web'], says: 'kind: "pod" is not supported; only deployment is' },
    { words: ['deployment'], says: 'name: is missing after deployment' },
    { words: ['deployment/'], says: 'name: "" is not namespace/name' },
    { words: ['a/b/c'], says: 'name: "a/b/c" is not namespace/name' },
    { words: ['deployment', 'web', 'api'], says: 'name: one Deployment at a time' },
    { words: ['shop/web'], flags: { namespace: 'other' }, says: 'namespace: is set twice' },
    { words: ['web'], flags: { namespace: 'no space' }, says: 'is not namespace/name' },
    { words: ['rkd/web'], flags: { api: APPS }, says: 'api: "apps/v1" conflicts with the kind rkd' },
  ])('refuses $words $flags', ({ flags = {}, says, words }) => {
    expect(() => parseTarget(words, flags)).toThrow(says);
  });
});
