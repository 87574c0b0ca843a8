import { describe, expect, it } from 'vitest';
import type { UnstructuredObject } from '../../../machinery/kubernetes/index.js';
import { aPod, creationOf } from '../admission.fixture.js';
import { CHANGED_BY, HISTORY, nameChangeAuthor } from './change-author.js';

function deployment(image: string, annotations: Record<string, string>): UnstructuredObject {
  return {
    apiVersion: 'apps/v1',
    kind: 'Deployment',
    metadata: { name: 'web', namespace: 'a', annotations },
    spec: { template: { spec: { containers: [{ name: 'app', image }] } } },
  };
}

function authorAfter(
  username: string,
  object: UnstructuredObject,
  oldObject?: UnstructuredObject,
  namespaceAnnotations: Record<string, string> = {},
): string | undefined {
  const attributes = creationOf(aPod());
  const caller = { ...attributes.caller, user: { ...attributes.caller.user, username } };
  const namespace = {
    apiVersion: 'v1',
    kind: 'Namespace',
    metadata: { name: 'a', annotations: namespaceAnnotations },
  };
  nameChangeAuthor({ ...attributes, caller, object, oldObject }, namespace);
  return object.metadata.annotations?.[CHANGED_BY];
}

describe('the author of a change', () => {
  const on = { [HISTORY]: 'on' };

  it('is the user who creates the Deployment, or changes its template', () => {
    expect(authorAfter('anna', deployment('app:1', on))).toBe('anna');
    const old = deployment('app:1', { ...on, [CHANGED_BY]: 'anna' });
    expect(authorAfter('ben', deployment('app:2', { ...on, [CHANGED_BY]: 'anna' }), old)).toBe('ben');
  });

  it('stays as it was where the template does, and cannot be written by the request', () => {
    const old = deployment('app:1', { ...on, [CHANGED_BY]: 'anna' });
    for (const sent of [on, { ...on, [CHANGED_BY]: 'carol' }])
      expect(authorAfter('ben', deployment('app:1', sent), old)).toBe('anna');
    expect(authorAfter('ben', deployment('app:2', { ...on, [CHANGED_BY]: 'carol' }), old)).toBe('ben');
  });

  it('is named where the Namespace asks for it, and not where neither does', () => {
    expect(authorAfter('anna', deployment('app:1', {}), undefined, on)).toBe('anna');
    expect(authorAfter('anna', deployment('app:1', {}))).toBeUndefined();
    expect(authorAfter('anna', deployment('app:1', { [HISTORY]: 'off' }), undefined, on)).toBeUndefined();
  });
});
