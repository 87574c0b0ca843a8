import type { RunningApiServer } from '../../integration/api-server-harness.js';
import type { Growing } from './steep-fields.js';
import { GROWING } from './write.js';

const GROUP = 'growth.example.com';
const DEFINITIONS = '/apis/apiextensions.k8s.io/v1/customresourcedefinitions';
const TYPE = { group: GROUP, version: 'v1', resource: 'things', kind: 'Thing', namespaced: true };

const text = { type: 'string' };
const item = { type: 'object', properties: { name: text, value: text }, required: ['name'] };
const list = { type: 'array', items: item };

/** A list or map of each kind that definitions know, and texts that are checked in each way. */
const FIELDS = {
  plain: list,
  keyed: { ...list, 'x-kubernetes-list-type': 'map', 'x-kubernetes-list-map-keys': ['name'] },
  set: { type: 'array', items: text, 'x-kubernetes-list-type': 'set' },
  atomic: { ...list, 'x-kubernetes-list-type': 'atomic' },
  unique: { type: 'array', items: text, uniqueItems: false, maxItems: 4000 },
  judged: {
    ...{ type: 'array', maxItems: 4000, items: { type: 'string', maxLength: 100 } },
    'x-kubernetes-validations': [{ rule: "self.all(each, each != '')" }],
  },
  anything: { type: 'array', items: { type: 'object', 'x-kubernetes-preserve-unknown-fields': true } },
  map: { type: 'object', additionalProperties: text },
  maps: { type: 'object', additionalProperties: item },
  atomicMap: { type: 'object', additionalProperties: text, 'x-kubernetes-map-type': 'atomic' },
  free: { type: 'object', 'x-kubernetes-preserve-unknown-fields': true },
  text,
  pattern: { type: 'string', pattern: '^(a|b|ab)*$' },
  date: { type: 'string', format: 'date-time' },
  email: { type: 'string', format: 'email' },
  hostname: { type: 'string', format: 'hostname' },
  choice: { anyOf: [{ type: 'integer' }, { type: 'string' }], 'x-kubernetes-int-or-string': true },
} as const;

type Name = keyof typeof FIELDS;

const MAPS: readonly Name[] = ['map', 'maps', 'atomicMap', 'free'];
const TEXTS: readonly Name[] = ['text', 'pattern', 'date', 'email', 'hostname', 'choice'];
const OF_TEXTS: readonly Name[] = ['set', 'unique', 'judged', 'map', 'atomicMap'];

/** Defines a kind with lists, maps and texts of every sort. */
export async function defineThings(api: RunningApiServer): Promise<void> {
  const properties = { spec: { type: 'object', properties: FIELDS } };
  const answer = await api.call('POST', DEFINITIONS, {
    apiVersion: 'apiextensions.k8s.io/v1',
    kind: 'CustomResourceDefinition',
    metadata: { name: `things.${GROUP}` },
    spec: {
      group: GROUP,
      scope: 'Namespaced',
      names: { plural: 'things', singular: 'thing', kind: 'Thing', listKind: 'ThingList' },
      versions: [
        {
          name: 'v1',
          served: true,
          storage: true,
          schema: { openAPIV3Schema: { type: 'object', properties } },
        },
      ],
    },
  });
  if (answer.status !== 201) throw new Error(answer.text);
}

/** A field each of the objects of that kind. */
export function customFields(): Growing[] {
  return (Object.keys(FIELDS) as Name[]).map((name) => {
    const sort = MAPS.includes(name) ? 'map' : TEXTS.includes(name) ? 'text' : 'list';
    return {
      ...{ name: `Thing.spec.${name}`, type: TYPE, sort },
      make: (length, { unit = 'a', variety }) => {
        const value =
          sort === 'text'
            ? unit.repeat(Math.ceil(length / unit.length)).slice(0, length)
            : entries(name, length, variety === 'equal');
        return {
          apiVersion: `${GROUP}/v1`,
          kind: 'Thing',
          metadata: { name: GROWING },
          spec: { [name]: value },
        };
      },
    };
  });
}

function entries(name: Name, length: number, areEqual: boolean): object {
  const made = Array.from({ length }, (_, index) => {
    const entry = `x${areEqual ? 1 : index}`;
    return OF_TEXTS.includes(name) ? entry : { name: entry, value: entry };
  });
  return MAPS.includes(name) ? Object.fromEntries(made.map((entry, index) => [`k${index}`, entry])) : made;
}
