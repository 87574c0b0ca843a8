import { describe, expect, it } from 'vitest';
import { METRICS_KINDS } from '../../objects/resource-metrics/metrics-kinds.js';
import { REVIEW_TYPES } from '../../objects/reviews/decide-review.js';
import { createSchemaRegistry } from '../../schema/index.js';
import { BUILT_IN_KINDS } from '../built-in-kinds.js';
import type { Definition } from '../custom/custom-kind.js';
import { refusalOf, reservationOf, SERVED_GROUPS, storedResourceOf } from './reserved-groups.js';

function aDefinition(name: string, group: string, plural: string): Definition {
  return { metadata: { name }, spec: { group, names: { plural } } } as unknown as Definition;
}

describe('groups that definitions may not have', () => {
  it('are those with a dot that the server answers for', () => {
    const types = [...BUILT_IN_KINDS, ...METRICS_KINDS].map(({ type }) => type);
    const groups = [...types, ...REVIEW_TYPES].map(({ group }) => group).filter((group) => group.includes('.'));
    expect([...SERVED_GROUPS].sort()).toEqual([...new Set(groups)].sort());
  });

  it('are those that would name a type as a built-in one is named in OpenAPI', () => {
    const groups = createSchemaRegistry().names.map((name) =>
      name.split('.').slice(0, -2).reverse().join('.'),
    );
    expect(new Set(groups.filter((group) => reservationOf(group) === undefined))).toEqual(new Set());
  });

  it.each(['', 'apps', 'internal', 'networking.k8s.io', 'core.api.k8s.io', 'api.k8s.io'])('include "%s"', (group) => {
    expect(reservationOf(group)).toBeDefined();
  });

  it.each(['example.com', 'gateway.networking.k8s.io', 'snapshot.storage.k8s.io', 'myapi.k8s.io', 'Networking.k8s.io'])(
    'do not include "%s"',
    (group) => {
      expect(reservationOf(group)).toBeUndefined();
    },
  );
}); // prettier-ignore

describe('a definition', () => {
  it('has its objects under its own name', () => {
    const definition = aDefinition('things.example.com', 'example.com', 'things');
    expect(storedResourceOf(definition)).toBe('things.example.com');
    expect(refusalOf(definition)).toBeUndefined();
  });

  it.each([
    ['has a built-in group', aDefinition('things.node.k8s.io', 'node.k8s.io', 'things')],
    ['is named like another one', aDefinition('others.example.com', 'example.com', 'things')],
    [
      'comes to the name of a built-in resource by a dot in its plural',
      aDefinition('roles.rbac.authorization.k8s.io', 'b.k8s.io', 'roles.rbac.authorization'),
    ],
    ['has no specification', { metadata: { name: 'a' } } as unknown as Definition],
  ])('is not served when it %s', (_name, definition) => {
    expect(refusalOf(definition)).toBeDefined();
  });
});
