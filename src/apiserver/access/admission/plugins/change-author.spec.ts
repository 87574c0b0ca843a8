import { describe, expect, it } from 'vitest';
import type { UnstructuredObject } from '../../../../machinery/kubernetes/index.js';
import { admittedPod, creationOf } from '../admission.fixture.js';
import {
  CHANGED_BY,
  HISTORY,
  SCALED_BY,
  nameChangeAuthor,
  nameRequester,
  nameSizeAuthor,
} from './change-author.js';

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
  const attributes = creationOf(admittedPod());
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

  it('stays that of the change to which the controller adds the digest of the configuration', () => {
    const old = deployment('app:1', { ...on, [CHANGED_BY]: 'anna' });
    const pinned = deployment('app:1', { ...on, [CHANGED_BY]: 'anna' });
    const [container] = [{ name: 'app', image: 'app:1' }];
    const metadata = { annotations: { 'rollkeeper.dev/pinned-config': '0123456789abcdef' } };
    pinned['spec'] = { template: { metadata, spec: { containers: [container] } } };
    expect(authorAfter('rollkeeper', pinned, old)).toBe('anna');
  });

  it('is named where the Namespace asks for it, and not where neither does', () => {
    expect(authorAfter('anna', deployment('app:1', {}), undefined, on)).toBe('anna');
    expect(authorAfter('anna', deployment('app:1', {}))).toBeUndefined();
    expect(authorAfter('anna', deployment('app:1', { [HISTORY]: 'off' }), undefined, on)).toBeUndefined();
  });

  it('cannot be written by the request where no history is kept either', () => {
    expect(authorAfter('ben', deployment('app:1', { [CHANGED_BY]: 'admin' }))).toBeUndefined();
  });
});

describe('the author of a size', () => {
  const on = { [HISTORY]: '14d' };
  const sized = (replicas: number, annotations: Record<string, string>, generation?: number) => {
    const object = deployment('app:1', annotations);
    object['spec'] = { ...(object['spec'] as object), replicas };
    return { ...object, metadata: { ...object.metadata, ...(generation && { generation }) } };
  };
  const namedAfter = (
    username: string,
    object: UnstructuredObject,
    oldObject?: UnstructuredObject,
  ): unknown => {
    const attributes = creationOf(admittedPod());
    const caller = { ...attributes.caller, user: { ...attributes.caller.user, username } };
    nameSizeAuthor({ ...attributes, caller, object, oldObject }, undefined);
    const named = object.metadata.annotations?.[SCALED_BY];
    return named === undefined ? undefined : (JSON.parse(named) as unknown);
  };

  it('is the user who changes it, with the size and the generation that it leads to', () => {
    expect(namedAfter('anna', sized(5, on), sized(2, on, 7))).toEqual({ by: 'anna', to: 5, generation: 8 });
    expect(namedAfter('anna', sized(5, on))).toBeUndefined();
  });

  it('stays as it was where the size does, and cannot be written by the request', () => {
    const by = (name: string) => ({ ...on, [SCALED_BY]: JSON.stringify({ by: name, to: 5, generation: 8 }) });
    const before = { by: 'anna', to: 5, generation: 8 };
    for (const sent of [on, by('carol')])
      expect(namedAfter('ben', sized(5, sent), sized(5, by('anna'), 9))).toEqual(before);
    expect(namedAfter('ben', sized(6, by('carol')), sized(5, by('anna'), 9))).toEqual({
      ...{ by: 'ben', to: 6, generation: 10 },
    });
    expect(namedAfter('ben', sized(5, by('carol')))).toBeUndefined();
  });

  it('is not named where no history is kept', () => {
    expect(namedAfter('anna', sized(5, {}), sized(2, {}, 7))).toBeUndefined();
    expect(
      namedAfter('anna', sized(5, { [SCALED_BY]: '{}' }), sized(2, {}, 7)),
      'a forged one',
    ).toBeUndefined();
  });
});

describe('the author of a request', () => {
  const asked = (name: string, username: string, before?: string): string | undefined => {
    const attributes = creationOf(admittedPod());
    const caller = { ...attributes.caller, user: { ...attributes.caller.user, username } };
    const object = deployment('app:1', { 'rollkeeper.dev/approve': name });
    const oldObject =
      before === undefined ? undefined : deployment('app:1', { 'rollkeeper.dev/approve': before });
    nameRequester({ ...attributes, caller, object, oldObject });
    nameRequester({ ...attributes, caller, object, oldObject });
    return object.metadata.annotations?.['rollkeeper.dev/approve'];
  };

  it.each([
    { name: 'anna', username: 'anna', is: 'anna' },
    { name: 'cluster-admin-alice', username: 'mal', is: 'cluster-admin-alice (mal)' },
    { name: 'alice (admin)', username: 'mal', is: 'alice (admin) (mal)' },
    { name: 'x'.repeat(5000), username: 'mal', is: `${'x'.repeat(100)} (mal)` },
  ])('is the authenticated user, beside the name that $username gives', ({ is, name, username }) => {
    expect(asked(name, username)).toBe(is);
  });

  it('stays as it is when another user changes something else', () => {
    expect(asked('anna', 'ben', 'anna')).toBe('anna');
  });
});
