/**
 * In Go an optional struct is a pointer, so `securityContext: {}` differs from none, and Kubernetes considers it
 * another template. For maps and plain structs, empty equals absent.
 */

/** Fields of a pod template that hold a map, or a non-optional struct. */
const EMPTY_AS_ABSENT: ReadonlySet<string> = new Set([
  'annotations',
  'labels',
  'limits',
  'matchLabels',
  'metadata',
  'nodeSelector',
  'options',
  'overhead',
  'podAffinityTerm',
  'preference',
  'requests',
  'resources',
  'spec',
  'volumeAttributes',
]);

/** In a container `resources` is not optional; in a pod it is. */
const RESOURCES_OF_POD = 'spec.resources';

/** Servers add it to every pod template, so it distinguishes none. */
const ALWAYS_FILLED_IN = 'spec.securityContext';

/** Whether two semantically equal templates have the same optional structs. */
export function sameStructs(a: unknown, b: unknown, path = ''): boolean {
  if (a === b) return true;
  if (!isFields(a) || !isFields(b)) return !(isStruct(a, path) || isStruct(b, path));
  const names = new Set([...Object.keys(a), ...Object.keys(b)]);
  return [...names].every((name) => sameStructs(a[name], b[name], join(path, name)));
}

/** Marks each empty optional struct, for a hash that omits empty values. */
export function markedStructs(value: unknown, path = ''): unknown {
  if (!isFields(value)) return value;
  if (Array.isArray(value)) return value.map((item: unknown) => markedStructs(item, join(path, '')));
  const entries = Object.entries(value);
  if (entries.length === 0) return isStruct(value, path) && path !== ALWAYS_FILLED_IN ? '{}' : value;
  return Object.fromEntries(entries.map(([name, field]) => [name, markedStructs(field, join(path, name))]));
}

/** Whether presence of the value alone makes a difference; never for an (empty) list. */
function isStruct(value: unknown, path: string): boolean {
  if (!isFields(value) || Array.isArray(value)) return false;
  const name = path.slice(path.lastIndexOf('.') + 1);
  if (path === RESOURCES_OF_POD || !EMPTY_AS_ABSENT.has(name)) return path !== '';
  return Object.entries(value).some(([field, inner]) => isStruct(inner, join(path, field)));
}

function join(path: string, name: string): string {
  return path === '' ? name : `${path}.${name}`;
}

function isFields(value: unknown): value is Record<string, unknown> {
  return typeof value === 'object' && value !== null;
}
