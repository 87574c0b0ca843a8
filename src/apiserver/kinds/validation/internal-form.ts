import { isJsonObject } from '@rollkeeper/machinery/kubernetes';
import { asWritten } from '../../schema/index.js';
import { shownSelector } from './labels.js';
import { readGenerated } from '../../schema/read-generated.js';

const FILE = new URL('../generated/internal.json', import.meta.url);

/**
 * The content of a field: a list, a map or a pointer to it, another struct, what is written as in the API, or the value
 * of an empty one.
 */
type Held =
  | { readonly list: Held }
  | { readonly map: Held }
  | { readonly pointer: Held }
  | { readonly struct: string }
  | { readonly versioned: true }
  | string
  | number
  | boolean
  | null;

/** The name inside, the name in the API, and what it holds. An embedded struct has no names. */
type Field = readonly [string, string, Held];

type Fields = Readonly<Record<string, unknown>>;

let types: Readonly<Record<string, readonly Field[]>> | undefined;

/** Types that the conversion from the API gives fields of their parent, or that the API writes as one of several things. */
const CONVERSIONS: Readonly<Record<string, (value: Fields) => Fields>> = {
  'core.PodSpec': ({ hostIPC, hostNetwork, hostPID, hostUsers, shareProcessNamespace, ...spec }) => ({
    ...spec,
    securityContext: {
      ...fieldsOf(spec.securityContext),
      ...{ hostIPC, hostNetwork, hostPID, hostUsers, shareProcessNamespace },
    },
  }),
  'apiextensions.JSONSchemaPropsOrArray': (value) =>
    Array.isArray(value) ? { jSONSchemas: value } : { schema: value },
  'apiextensions.JSONSchemaPropsOrBool': (value: Fields | boolean) =>
    typeof value === 'boolean' ? { allows: value } : { allows: true, schema: value },
  'apiextensions.JSONSchemaPropsOrStringArray': (value) =>
    Array.isArray(value) ? { property: value } : { schema: value },
};

/**
 * A value as Kubernetes has it inside, which is how its messages show it: Go's names, every field, and null for what is not there.
 * @param type the package and the name of the type: `core.PodTemplateSpec`
 */
export function internalForm(type: string, value: unknown): Fields {
  types ??= readGenerated<Readonly<Record<string, readonly Field[]>>>(FILE);
  const fields = types[type];
  if (!fields) throw new Error(`the internal form of ${type} is not known`);
  const given = fieldsOf(value);
  const converted = CONVERSIONS[type]?.(given) ?? given;
  const shown: Record<string, unknown> = {};
  for (const [inside, name, held] of fields) {
    if (inside !== '') shown[inside] = formOf(held, converted[name] ?? emptyAsWritten(held, given, name));
    else Object.assign(shown, embedded(held, converted));
  }
  return shown;
}

/** An empty list or map that was written is shown as such. */
function emptyAsWritten(held: Held, given: Fields, name: string): unknown {
  const holds = typeof held === 'object' && held !== null;
  return holds && ('list' in held || 'map' in held) ? asWritten(given, name) : undefined;
}

/** The fields of a decoded struct or map, which is there or not. */
function fieldsOf(value: unknown): Fields {
  return (value ?? {}) as Fields;
}

/** The metadata of a template are embedded, and so are the variants of a volume or a probe. */
function embedded(held: Held, value: Fields): unknown {
  if (typeof held !== 'object' || held === null) return {};
  return 'struct' in held ? internalForm(held.struct, value) : metadataOf(value);
}

const METADATA = [
  'name',
  'generateName',
  'namespace',
  'labels',
  'annotations',
  'ownerReferences',
  'finalizers',
];

function metadataOf({ metadata }: Fields): Fields {
  const given = fieldsOf(metadata);
  return Object.fromEntries(
    METADATA.flatMap((name) => (isEmpty(given[name]) ? [] : [[name, byKey(given[name])]])),
  );
}

/** Go writes the keys of a map in their order. */
function byKey(value: unknown): unknown {
  if (!isJsonObject(value)) return value;
  return Object.fromEntries(Object.entries(value).sort(([one], [other]) => (one < other ? -1 : 1)));
}

function isEmpty(value: unknown): boolean {
  return (
    value === undefined ||
    value === '' ||
    (typeof value === 'object' && Object.keys(value ?? {}).length === 0)
  );
}

function formOf(held: Held, value: unknown): unknown {
  if (typeof held !== 'object' || held === null) return value ?? held;
  if ('struct' in held) return internalForm(held.struct, value);
  if (value === undefined || value === null) return null;
  if ('pointer' in held) return formOf(held.pointer, value);
  if ('list' in held) return (value as readonly unknown[]).map((item) => formOf(held.list, item));
  if ('map' in held)
    return Object.fromEntries(
      Object.entries(fieldsOf(byKey(value))).map(([key, item]) => [key, formOf(held.map, item)]),
    );
  return isJsonObject(value) && isJsonObject(value.matchLabels) ? shownSelector(value) : value;
}
