import type { ObjectSchema, SchemaRegistry } from '../index.js';
import { applyConfig } from './apply.js';
import { pathsOf } from './field-set.js';
import { pathText } from './fields-v1.js';
import type { Manager, Owners } from './managers.js';
import { shapeOfType } from './shape.js';

/** A small type that has every kind of list and map, for the tests of this folder. */
const text: ObjectSchema = { type: 'string' };
const map: ObjectSchema = { type: 'map', items: text };
const types: Readonly<Record<string, ObjectSchema>> = {
  Meta: {
    type: 'object',
    properties: {
      name: text,
      uid: text,
      labels: map,
      annotations: map,
      finalizers: { type: 'array', items: text, listType: 'set' },
    },
  },
  Item: { type: 'object', properties: { name: text, image: text, args: { type: 'array', items: text } } },
  Spec: {
    type: 'object',
    properties: {
      replicas: { type: 'integer' },
      selector: { ...map, mapType: 'atomic' },
      items: { type: 'array', items: { type: 'ref', ref: 'Item' }, listType: 'map', listMapKeys: ['name'] },
    },
  },
  Thing: {
    type: 'object',
    properties: {
      metadata: { type: 'ref', ref: 'Meta' },
      spec: { type: 'ref', ref: 'Spec' },
      status: { type: 'ref', ref: 'Spec' },
    },
  },
};
const schemas: SchemaRegistry = {
  get: (name) => types[name],
  goFacts: () => ({}),
  describe: () => ({}),
  names: Object.keys(types),
  put: () => undefined,
  remove: () => undefined,
};
export const shape = shapeOfType(schemas, 'Thing');

export function manager(name: string, operation: Manager['operation'] = 'Apply'): Manager {
  return { name, operation, apiVersion: 'v1', subresource: '' };
}

export function apply(live: unknown, config: unknown, owners: Owners, name = 'me') {
  return applyConfig({ live, config, owners, shape, manager: manager(name), time: 'T' });
}

/** Applies one after the other; each as `[manager, configuration]`. */
export function applied(...steps: readonly (readonly [string, unknown])[]) {
  let state: { object: unknown; owners: Owners } = { object: undefined, owners: new Map() };
  for (const [name, config] of steps) state = apply(state.object, config, state.owners, name);
  return state;
}

export function show(owners: Owners): Record<string, string[]> {
  return Object.fromEntries(
    [...owners.values()].map(({ manager: { name }, fields }) => [name, pathsOf(fields).map(pathText)]),
  );
}
